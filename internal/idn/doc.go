// Package idn turns the international names of hosts into the form that DNS knows, as the WHATWG URL Standard does. Its
// tables of Unicode differ between versions of Go, so the state machine must not use it.
package idn
