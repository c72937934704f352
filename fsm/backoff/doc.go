// Package backoff is the language of the header Svc-Retry-Delay: how long to wait before a message is attempted
// again.
//
//	expression = term   { ("+" | "-") term }
//	term       = factor { ("*" | "/") factor }
//	factor     = ("+" | "-") factor | number | "retried" | "(" expression ")"
//	           | ("sqrt" | "abs" | "exp" | "floor" | "ceil" | "round") "(" expression ")"
//	           | "pow" "(" expression "," expression ")"
//	           | ("min" | "max") "(" expression { "," expression } ")"
//	number     = digits [ "." [ digits ] ] | "." digits
//
// Blanks may stand between any two of these. The variable retried is the number of
// retries so far, 0 for the first one. The value is in milliseconds; it is rounded and
// held between 0 and a day. Nothing else is accepted: no other names, no exponents, no
// assignment.
//
// An expression is parsed once, into a short program for a stack of numbers. Its length
// and depth are bounded, and evaluation takes one step for each part of the text, so an
// expression of a stranger costs no more than its length.
//
// The package belongs to the state machine, which refuses bad expressions, but it never
// evaluates there: exp and pow differ between processors (see package fsm), so whoever
// evaluates brings them along, and that is the leader alone.
package backoff
