// Package clock is the time that a leader writes into the log and hands out to reads: cluster time, and wall time.
//
// # Rules
//
//   - Cluster time never stands. Ahead of the median of the voters' wall clocks it runs slower by a tenth, behind it faster, and
//     more than ten seconds behind it is set forward at once. Between two looks at the clocks, and while no majority of them
//     agrees, it goes on by the monotonic clock. Setting one machine's clock changes nothing.
//   - Wall time is the median, but never beyond cluster time: it waits for the clocks when they are behind. What was given as a
//     time of day waits for it.
//   - Neither goes back. A term starts at the Ceiling of the terms before, or at the median if that is later. A leader
//     that knows no median then goes to the first one it learns of, if that is later: otherwise time would lag by the
//     length of each outage, and messages would come due late by all of them together.
//   - A read is placed at most ReadAhead beyond the log's time, and beyond it only once time has moved within the term.
//   - So no time of day comes earlier than ReadAhead before the median, however often leadership changes. Each change may put cluster time
//     ahead by ReadAhead, which is over half a second later.
//   - Below the feature level env.Files states know cluster time only: there it stands still while it is ahead.
//
// # Rejected
//
// A ceiling that every term adds to: forty changes of leader put time seven seconds ahead. A term that waits for the
// wall clock before it starts: failover would take as long as the ceiling is high. A clock that trusts its own machine:
// one wrong clock would expire keys. One time for all: when three clocks are set back by an hour, either locks stand for an hour,
// or what was to happen at noon happens at eleven.
//
// Package cluster opens a Clock for each term and stamps entries with it; jepsen/sim runs the same code.
package clock
