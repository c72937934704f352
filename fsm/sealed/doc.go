// Package sealed keeps records that do not change any more: old events of messages, and runs that have ended.
//
// A Volume is some hundreds of such records in one payload, which a node keeps on its disk. What stays in memory is where it belongs
// in time, the numbers of the messages or runs that it tells of, and a filter of the words that a reader may ask for. So a reader
// opens the volumes that have something for it, and no others.
//
// Package queue and package workflow say what a record is. An apply makes volumes and drops the oldest; it never opens one.
package sealed
