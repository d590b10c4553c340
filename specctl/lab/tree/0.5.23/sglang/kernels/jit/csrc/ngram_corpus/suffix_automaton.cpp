// Part of the n-gram trie: suffix_automaton.
#include "trie.h"
