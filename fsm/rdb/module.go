package rdb

import (
	"strings"

	"trireme/fsm/jsondoc"
	"trireme/fsm/keyspace"
)

// What stands before the parts of a module's value.
const (
	moduleEnd    = 0
	moduleInt    = 1
	moduleUint   = 2
	moduleFloat  = 3
	moduleDouble = 4
	moduleString = 5
)

// moduleLetters spell the nine letters of a module's type, six bits each.
const moduleLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// jsonModule is the type of JSON documents, and jsonVersion the version of its form in
// which the document's text is all there is.
const (
	jsonModule  = "ReJSON-RL"
	jsonVersion = 3
)

// moduleID is the number of a module's type and version of its form.
func moduleID(name string, version uint64) (id uint64) {
	for i := range len(name) {
		id = id<<6 | uint64(strings.IndexByte(moduleLetters, name[i]))
	}
	return id<<10 | version
}

// moduleName is the name in a module's number.
func moduleName(id uint64) string {
	var name [9]byte
	for i := range name {
		name[i] = moduleLetters[id>>(10+6*(8-i))&0x3F]
	}
	return string(name[:])
}

// module reads a JSON document, the one type of a module that is known here.
func (r *reader) module() (keyspace.Container, error) {
	id, err := r.length()
	if err != nil {
		return nil, err
	}
	if id != moduleID(jsonModule, jsonVersion) {
		return nil, ErrFormat
	}
	if part, err := r.length(); err != nil || part != moduleString {
		return nil, ErrFormat
	}
	text, err := r.blob()
	if err != nil {
		return nil, err
	}
	if end, err := r.length(); err != nil || end != moduleEnd {
		return nil, ErrFormat
	}
	root, err := jsondoc.Parse(text)
	if err != nil {
		return nil, ErrFormat
	}
	return keyspace.NewDocument(root), nil
}
