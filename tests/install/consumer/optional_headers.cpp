// The optional headers compile beside each other and beside the core, from the install tree.
#include <partita/asio.hpp>
#include <partita/caf.hpp>
#include <partita/producer.hpp>

int main() { return partita::tally{}.all_delivered() ? 0 : 1; }
