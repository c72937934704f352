// Package reply holds the reply of a command: one value in RESP3's terms, which every origin writes in its own
// form (JSON, base64, RESP2, RESP3).
package reply
