// Package poison finds the log entry whose apply ends the process, and remembers what the operator has decided about it.
//
// A Mark is a page of the data directory that is mapped into memory. The state machine notes in it, with plain stores, which
// entry it applies, and which request and which database of it (fsm.Progress). What is stored there outlives the process,
// however it ends (a panic, a kill, want of memory), but not a power cut. The next process finds at its start at which entry
// the last one ended, if it ended in the middle of one, and counts how many have ended at that entry one after the other.
//
// Orders keeps each fsm.QuarantineOrder that this node has found in its log. They concern entries before them, so a node
// that applies its log again has to know them beforehand.
//
// See docs/design/poison.md.
package poison
