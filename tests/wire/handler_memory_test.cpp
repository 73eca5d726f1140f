#include "wire/handler_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace partita::wire {
namespace {

TEST(HandlerMemory, IsUsedAgain) {
  handler_memory memory;
  void* const first = memory.take(100);
  memory.give_back(first);
  EXPECT_EQ(memory.take(200), first);
  memory.give_back(first);
}

TEST(HandlerMemory, ASecondOperationGetsMemoryOfItsOwn) {
  handler_memory memory;
  void* const first = memory.take(100);
  void* const second = memory.take(100);
  ASSERT_NE(first, second);
  std::memset(second, 1, 100);
  memory.give_back(second);
  void* const third = memory.take(100);
  EXPECT_NE(third, first) << "it is still in use";
  memory.give_back(third);
  memory.give_back(first);
}

TEST(HandlerMemory, ALargeOperationGetsMemoryOfItsOwn) {
  handler_memory memory;
  void* const large = memory.take(100'000);
  std::memset(large, 1, 100'000);
  void* const small = memory.take(100);
  EXPECT_NE(small, large);
  memory.give_back(large);
  memory.give_back(small);
}

TEST(HandlerAllocator, CopiesForOtherTypesShareTheMemory) {
  handler_memory memory;
  const handler_allocator<int> numbers(memory);
  handler_allocator<double> others(numbers);
  EXPECT_TRUE(numbers == others);
  double* const place = others.allocate(2);
  others.deallocate(place, 2);
  EXPECT_EQ(static_cast<void*>(handler_allocator<int>(numbers).allocate(1)),
            static_cast<void*>(place));
}

}  // namespace
}  // namespace partita::wire
