// Package clock is the time that a leader writes into the log and hands out to reads: cluster time.
//
// # Rules
//
//   - Within a term it follows the median of the voters' wall clocks: ahead of it, time stands still until the median
//     has come up; behind, it runs faster by a tenth. Between two looks at the clocks, and while no majority of them
//     agrees, it goes on by the monotonic clock. Setting one machine's clock changes nothing.
//   - It never goes back. A term starts at the Ceiling of the terms before, or at the median if that is later. A leader
//     that knows no median then goes to the first one it learns of, if that is later: otherwise time would lag by the
//     length of each outage, and messages would come due late by all of them together.
//   - A read is placed at most ReadAhead beyond the log's time, and beyond it only once time has moved within the term.
//   - So nothing comes due earlier than ReadAhead before the median, however often leadership changes.
//
// # Rejected
//
// A ceiling that every term adds to: forty changes of leader put time seven seconds ahead. A term that waits for the
// wall clock before it starts: failover would take as long as the ceiling is high. A clock that trusts its own machine:
// one wrong clock would expire keys.
//
// Package cluster opens a Clock for each term and stamps entries with it; jepsen/sim runs the same code.
package clock
