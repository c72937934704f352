// Package slowdisks slows disks of a cluster down under load, and judges whether leadership leaves a slow disk, whether it stays
// where moving it would not help, and whether nodes write snapshots one after the other. It takes a binary with failpoints.
package slowdisks
