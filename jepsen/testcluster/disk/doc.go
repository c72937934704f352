// Package disk gives a node a small file system of its own, ext4 in an image that is
// mounted through a loop device, and breaks it: full, frozen, without power, lost. It
// needs root.
package disk
