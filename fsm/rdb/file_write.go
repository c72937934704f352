package rdb

import (
	"encoding/binary"
	"fmt"
	"io"

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

// flushAt is how many bytes are gathered before they are written.
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
func (f *FileWriter) Remark(name, value string) {
	f.w.b = append(f.w.b, opAux)
	f.w.text(name)
	f.w.text(value)
}

// Function writes the code of a library.
func (f *FileWriter) Function(code string) {
	f.w.b = append(f.w.b, opFunction)
	f.w.text(code)
	f.Functions++
}

// Database begins the keys of a database; readers make room for so many of them, and for so many deadlines.
func (f *FileWriter) Database(number, keys, deadlines uint64) {
	f.w.b = append(f.w.b, opSelect)
	f.w.length(number)
	f.w.b = append(f.w.b, opResize)
	f.w.length(keys)
	f.w.length(deadlines)
}

// Key writes a key with its value and its deadline. Fields past theirs at now, in unix milliseconds, are left out. The
// errors are that of a document whose text would be too long, and that of the file's writer.
func (f *FileWriter) Key(name string, o *keyspace.Object, now int64) error {
	if hash, ok := o.Data().(*keyspace.Fields); ok && hash.Len(now) == 0 {
		return nil // gone, though not swept yet; Redis refuses an empty hash
	}
	before := len(f.w.b)
	if o.Expire != 0 {
		f.w.b = append(f.w.b, opExpireMs)
		f.w.millis(o.Expire)
	}
	// The type stands before the name, the value behind it.
	kind := len(f.w.b)
	f.w.b = append(f.w.b, 0)
	f.w.text(name)
	behind := len(f.w.b)
	if _, err := f.w.value(o, now); err != nil {
		return fmt.Errorf("value of key %q: %w", name, err)
	}
	if t := Type(f.w.b[behind]); t == TypeModule2 && !f.target.Modules {
		f.w.b = f.w.b[:before]
		f.LeftOut++
		return nil
	}
	f.w.b[kind] = f.w.b[behind]
	f.w.b = append(f.w.b[:behind], f.w.b[behind+1:]...)
	f.Keys++
	if f.w.undated {
		f.w.undated = false
		f.Undated++
	}
	if len(f.w.b) < flushAt {
		return nil
	}
	return f.flush()
}

func (f *FileWriter) flush() error {
	f.sum = Checksum(f.sum, f.w.b)
	n, err := f.out.Write(f.w.b)
	f.Bytes += int64(n)
	f.w.b = f.w.b[:0]
	if cap(f.w.b) > 4*flushAt { // a large value's
		f.w.b = nil
	}
	return err
}

// Close writes the end of the file, its checksum last. It doesn't close out.
func (f *FileWriter) Close() error {
	f.w.b = append(f.w.b, opEnd)
	if err := f.flush(); err != nil {
		return err
	}
	n, err := f.out.Write(binary.LittleEndian.AppendUint64(nil, f.sum))
	f.Bytes += int64(n)
	return err
}
