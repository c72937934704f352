// Package plural writes numbers of things: "1 key", "2 keys", "3 entries".
//
// Everything that shows numbers of things to people calls Of: the command line, the doctor, reports of backups.
package plural
