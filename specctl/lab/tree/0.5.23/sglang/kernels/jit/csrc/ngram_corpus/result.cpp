// Part of the n-gram trie: result.
#include "trie.h"
