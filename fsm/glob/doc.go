// Package glob matches the patterns of KEYS, SCAN and similar commands: by bytes, in time that is linear in both
// lengths, see Costly for the one exception.
package glob
