// Package acl says who may do what: users with their credentials, kept as digests,
// and the commands, keys and channels that are open to them.
package acl
