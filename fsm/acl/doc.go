// Package acl decides who may do what: users with their credentials, stored as digests, and the commands, keys and
// channels that they may use.
package acl
