// Package testports reserves blocks of loopback ports, so that test harnesses that run side by side on one machine never
// use the same ones. A reservation is a file lock and ends with the process. The ports lie below the kernel's ephemeral
// range: no outgoing connection takes the port of a node that is down for a moment. Only tests and jepsen import it.
package testports
