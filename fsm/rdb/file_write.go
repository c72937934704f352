package rdb

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// Target is the server that a file is written for.
type Target struct {
	// FieldDeadlines says that it knows deadlines of hash fields, as Redis does since 7.4. Without it, fields are written
	// without their deadlines.
	FieldDeadlines bool
	// Modules says that it has the JSON module, so that documents are written; vector indexes are too, which only
	// Trireme reads. Without it, such keys are left out.
	Modules bool
}

// Written counts what a file holds, and what its target made it go without.
type Written struct {
	// Keys and Functions are in the file.
	Keys, Functions int64
	// LeftOut counts keys that only a module holds.
	LeftOut int64
	// Undated counts keys whose fields are in the file without their deadlines.
	Undated int64
	// Bytes is the size of the file.
	Bytes int64
}

// FileWriter writes a file of Redis from front to back: functions, then the keys of one database.
type FileWriter struct {
	Written

	out    io.Writer
	target Target
	w      writer
	sum    uint64
}

// flushAt is the number of bytes that are buffered before they are written.
const flushAt = 256 << 10

// NewFileWriter begins a file. The error of out shows at the latest when the file is closed.
func NewFileWriter(out io.Writer, target Target) *FileWriter {
	f := &FileWriter{out: out, target: target}
	f.w.withoutDeadlines = !target.FieldDeadlines
	version := plainVersion
	if target.FieldDeadlines {
		version = timedVersion
	}
	f.w.b = fmt.Appendf(f.w.b, "%s%04d", magic, version)
	return f
}

// Remark writes a remark of the server that writes the file, which readers pass over.
func (fw *FileWriter) Remark(name, value string) {
	fw.w.b = append(fw.w.b, opAux)
	fw.w.text(name)
	fw.w.text(value)
}

// Function writes the code of a library.
func (fw *FileWriter) Function(code string) {
	fw.w.b = append(fw.w.b, opFunction)
	fw.w.text(code)
	fw.Functions++
}

// Database begins the keys of a database; readers make room for so many of them, and for so many deadlines.
func (fw *FileWriter) Database(number, keys, deadlines uint64) {
	fw.w.b = append(fw.w.b, opSelect)
	fw.w.length(number)
	fw.w.b = append(fw.w.b, opResize)
	fw.w.length(keys)
	fw.w.length(deadlines)
}

// Key writes a key with its value and its deadline. Fields past theirs at now are left out. The
// errors are that of a document whose text would be too long, and that of the file's writer.
func (fw *FileWriter) Key(name string, o *keyspace.Object, now env.Time) error {
	if hash, ok := o.Data().(*keyspace.Fields); ok && hash.Len(now) == 0 {
		return nil // gone, though not swept yet; Redis refuses an empty hash
	}
	before := len(fw.w.b)
	if o.Expire != 0 {
		fw.w.b = append(fw.w.b, opExpireMs)
		fw.w.millis(o.Expire.Millis())
	}
	// The type stands before the name, the value behind it.
	kind := len(fw.w.b)
	fw.w.b = append(fw.w.b, 0)
	fw.w.text(name)
	behind := len(fw.w.b)
	if _, err := fw.w.value(o, now); err != nil {
		return fmt.Errorf("value of key %q: %w", name, err)
	}
	if t := Type(fw.w.b[behind]); t == TypeModule2 && !fw.target.Modules {
		fw.w.b = fw.w.b[:before]
		fw.LeftOut++
		return nil
	}
	fw.w.b[kind] = fw.w.b[behind]
	fw.w.b = append(fw.w.b[:behind], fw.w.b[behind+1:]...)
	fw.Keys++
	if fw.w.undated {
		fw.w.undated = false
		fw.Undated++
	}
	if len(fw.w.b) < flushAt {
		return nil
	}
	return fw.flush()
}

func (fw *FileWriter) flush() error {
	fw.sum = Checksum(fw.sum, fw.w.b)
	n, err := fw.out.Write(fw.w.b)
	fw.Bytes += int64(n)
	fw.w.b = fw.w.b[:0]
	if cap(fw.w.b) > 4*flushAt { // a large value's
		fw.w.b = nil
	}
	return err
}

// Close writes the end of the file, its checksum last. It doesn't close out.
func (fw *FileWriter) Close() error {
	fw.w.b = append(fw.w.b, opEnd)
	if err := fw.flush(); err != nil {
		return err
	}
	n, err := fw.out.Write(binary.LittleEndian.AppendUint64(nil, fw.sum))
	fw.Bytes += int64(n)
	return err
}
