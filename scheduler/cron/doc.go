// Package cron says when a schedule fires. An expression is five fields (minute, hour,
// day of month, month, day of week), one of the names @hourly, @daily (@midnight),
// @weekly, @monthly and @yearly (@annually), or "@every" and a duration. In front of it
// may be "CRON_TZ=Area/City " or "TZ=Area/City "; without it the zone is UTC.
//
// A field is a list of parts separated by commas. A part is * or ?, a number, a name
// (JAN to DEC, SUN to SAT, in any case), or a range a-b; each may be followed by a step
// /n, and a number with a step runs to the end of the field. Sunday is 0 or 7. When both
// the day of month and the day of week are restricted, a day that matches either one
// fires; a field counts as unrestricted if it contains * or ? without a step.
//
// # When the clocks change
//
// An expression describes minutes of the zone's wall clock. Each minute that matches
// fires once:
//
//   - A minute that the clocks skip fires as much later on the wall clock as they skip:
//     where 02:00 becomes 03:00, a schedule of 02:30 fires at 03:30, which is the moment
//     it would have fired without the change. If another minute that matches falls on
//     the same moment, both are one tick.
//   - A minute that comes twice fires the first time only, except if the expression
//     matches every hour of the day: "*/15 * * * *" goes on firing every quarter of an
//     hour, while "30 1 * * *" fires once that day.
//
// "@every" knows no wall clock: it fires at its origin plus every multiple of the
// duration.
//
// The package reads no clock. Zones come from the system or from the binary itself, so
// two binaries may disagree about the future of a zone: only the leader asks, and the
// times travel in the log.
package cron
