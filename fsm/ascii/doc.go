// Package ascii compares and splits words as Redis does: byte by byte, with the letters of ASCII alone. The functions of the
// same names in package strings decode UTF-8: they take other letters for ASCII's (the Kelvin sign for a k) and replace bytes
// that are not valid.
package ascii
