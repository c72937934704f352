// Package quota counts the commands that this node answers against the daily limit of their database. What is left of the day is
// part of the replicated state; a node takes it in blocks, by log entries, before it runs commands. So no node answers more than
// was given to it, and a limit below two thousand is kept to the command.
//
// A rate of requests is kept by each node by itself: a bucket for each database that has one, which time fills.
package quota
