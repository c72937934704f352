package rdb

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// What a file has between the values.
const (
	opSlot       = 244
	opFunction   = 245
	opModuleAux  = 247
	opIdle       = 248
	opFreq       = 249
	opAux        = 250
	opResize     = 251
	opExpireMs   = 252
	opExpire     = 253
	opSelect     = 254
	opEnd        = 255
	typeZipmap   = Type(9)
	magic        = "REDIS"
	magicSize    = 9
	checksumFrom = 5 // the version of files since which a checksum stands at the end
)

// ItemKind says what an Item is.
type ItemKind uint8

// The kinds of items.
const (
	// ItemKey is a key with its value.
	ItemKey ItemKind = iota
	// ItemAux is a remark of the server that wrote the file.
	ItemAux
	// ItemFunctions is the code of a library of functions.
	ItemFunctions
	// ItemModule is the data that a module kept outside the keys.
	ItemModule
)

// Item is an item of a file. Its slices are valid until the next one is read.
type Item struct {
	Kind ItemKind
	// DB is the number of the database that a key is in.
	DB uint64
	// Name is the key, or the name of a remark or module.
	Name []byte
	// Expire is the key's deadline in unix milliseconds, 0 for none.
	Expire int64
	// Type is that of the key's value.
	Type Type
	// Value is the value behind its type, for Frame or Decode, or the text of a remark
	// or library.
	Value []byte
	// TooLarge says that there is no value, because it has more bytes than are kept.
	TooLarge bool
}

// File reads a file of Redis from front to back.
type File struct {
	// Version is the version of the format that the file claims.
	Version int

	src  source
	db   uint64
	name []byte
}

// OpenFile reads the beginning of a file. most is the largest size of a key or a value, in
// bytes: larger values are skipped. The error is ErrFormat if it is no such file.
func OpenFile(r io.Reader, most int) (*File, error) {
	f := &File{src: source{in: bufio.NewReaderSize(r, step), most: most}}
	head, err := f.src.bytes(magicSize)
	if err != nil {
		return nil, err
	}
	f.Version, err = strconv.Atoi(string(head[len(magic):]))
	if string(head[:len(magic)]) != magic || err != nil || f.Version < 1 {
		return nil, fmt.Errorf("%w: this is no RDB file", ErrFormat)
	}
	f.src.cut()
	return f, nil
}

// Offset returns the number of bytes that were read of the file.
func (f *File) Offset() int64 { return f.src.at }

// Next reads the next item. io.EOF says that the file ended as it should, its checksum
// included.
func (f *File) Next() (Item, error) {
	item := Item{DB: f.db}
	for {
		f.src.cut()
		op, err := f.src.bytes(1)
		if err != nil {
			return Item{}, err
		}
		switch op := op[0]; op {
		case opEnd:
			return Item{}, f.end()
		case opAux, opFunction, opModuleAux:
			return f.remark(op)
		case opSelect:
			if f.db, err = f.src.length(); err != nil {
				return Item{}, err
			}
			item.DB = f.db
		case opExpire, opExpireMs:
			if item.Expire, err = f.deadline(op); err != nil {
				return Item{}, err
			}
		case opIdle, opResize, opSlot, opFreq:
			if err := f.ignore(op); err != nil {
				return Item{}, err
			}
		default:
			item.Type = Type(op)
			return item, f.key(&item)
		}
	}
}

// deadline reads a key's deadline in milliseconds or seconds.
func (f *File) deadline(op byte) (int64, error) {
	if op == opExpireMs {
		return f.src.millis()
	}
	b, err := f.src.bytes(4)
	if err != nil {
		return 0, err
	}
	return 1000 * int64(int32(binary.LittleEndian.Uint32(b))), nil
}

// ignore passes over what has no meaning here: how large tables should be, and when and
// how often keys were used.
func (f *File) ignore(op byte) error {
	switch op {
	case opFreq:
		return f.src.pass(1)
	case opIdle:
		return f.src.lengths(1)
	case opSlot:
		return f.src.lengths(3)
	}
	return f.src.lengths(2)
}

// text reads a string of the file as it is meant.
func (f *File) text() ([]byte, error) {
	f.src.cut()
	if err := f.src.text(); err != nil {
		return nil, err
	}
	if f.src.over {
		return nil, fmt.Errorf("%w: a name before byte %d", ErrRoom, f.src.at)
	}
	r := reader{b: f.src.cut(), room: int64(f.src.most) + elementRoom}
	b, err := r.blob()
	if err != nil {
		err = f.src.bad("a string that can't be read")
	}
	return b, err
}

// key reads a key and its value.
func (f *File) key(item *Item) error {
	name, err := f.text()
	if err != nil {
		return err
	}
	f.name = append(f.name[:0], name...)
	f.src.kept = append(f.src.kept[:0], byte(item.Type))
	if err := f.src.value(item.Type); err != nil {
		return fmt.Errorf("value of key %q: %w", f.name, err)
	}
	item.Name, item.TooLarge = f.name, f.src.over
	if item.Value = f.src.cut(); item.TooLarge {
		item.Value = nil
	}
	return nil
}

// remark reads what belongs to no key.
func (f *File) remark(op byte) (item Item, err error) {
	switch op {
	case opModuleAux:
		id, err := f.src.length()
		if err != nil {
			return item, err
		}
		return Item{Kind: ItemModule, Name: []byte(moduleName(id))}, then(f.src.lengths(2), f.src.moduleParts)
	case opAux:
		name, err := f.text()
		if err != nil {
			return item, err
		}
		f.name = append(f.name[:0], name...)
		item = Item{Kind: ItemAux, Name: f.name}
	default:
		item = Item{Kind: ItemFunctions}
	}
	item.Value, err = f.text()
	return item, err
}

// end checks the end of the file. A checksum of 0 stands for none.
func (f *File) end() error {
	if f.Version < checksumFrom {
		return io.EOF
	}
	want := f.src.sum
	b, err := f.src.bytes(8)
	if err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint64(b); got != 0 && got != want {
		return fmt.Errorf("%w: the file's checksum is wrong: it was damaged", ErrFormat)
	}
	return io.EOF
}
