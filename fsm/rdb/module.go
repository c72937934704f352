package rdb

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
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

// vectorModule is our type of vector indexes, whose text is the record of a snapshot.
const (
	vectorModule  = "trireme-V"
	vectorVersion = 1
)

// arrayModule is our type of arrays, whose text is the record of a snapshot. The form of newer
// versions of Redis is not known here.
const (
	arrayModule  = "trireme-A"
	arrayVersion = 1
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

// module reads a JSON document, a vector index or an array, the types of modules that are known here.
func (r *reader) module() (keyspace.Container, error) {
	id, err := r.length()
	if err != nil {
		return nil, err
	}
	decode, perStep := parseDocument, otherPerStep
	switch id {
	case moduleID(jsonModule, jsonVersion):
		perStep = jsonPerStep
	case moduleID(vectorModule, vectorVersion):
		decode = func(text []byte) (keyspace.Container, bool) { return keyspace.DecodeVectors(text) }
	case moduleID(arrayModule, arrayVersion):
		decode = func(text []byte) (keyspace.Container, bool) { return keyspace.DecodeArray(text) }
	default:
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
	if err := r.work(len(text) / perStep); err != nil {
		return nil, err
	}
	c, ok := decode(text)
	if !ok {
		return nil, ErrFormat
	}
	return c, nil
}

func parseDocument(text []byte) (keyspace.Container, bool) {
	root, err := jsondoc.Parse(text)
	if err != nil {
		return nil, false
	}
	return keyspace.NewDocument(root), true
}
