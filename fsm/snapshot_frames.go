package fsm

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// frames writes records into frames of one section after the other.
type frames struct {
	w       io.Writer
	section byte
	buf     []byte // head and data of the frame that is filling
	count   uint64
	digests bool // of large payloads, in the place of their bytes: what is written is for a hash

	// files has the payloads that are named, nil if whoever reads the names knows where they are. references has those that the
	// next record names, nil if none are named; named has those of the records in buf.
	files      payload.Files
	references *wire.References
	named      []wire.Referable
	names      *frames // writes the names
	room       []byte  // of the names before
}

func newFrames(w io.Writer) *frames {
	return &frames{w: w, buf: make([]byte, frameHead, frameSize+frameHead)}
}

// nameAll has the frames name large payloads, if named, and whoever keeps them.
func (f *frames) nameAll(named bool) {
	if named {
		f.references = &wire.References{All: true}
	}
}

// record adds one record to the section.
func (f *frames) record(section byte, data []byte) error {
	if f.section != section || (len(f.buf) > frameHead && len(f.buf)+len(data) > frameSize) {
		if err := f.flush(); err != nil {
			return err
		}
		f.section = section
	}
	if f.references != nil {
		f.named = f.references.Take(f.named)
	}
	f.buf = binary.AppendUvarint(f.buf, uint64(len(data)))
	f.buf = append(f.buf, data...)
	return nil
}

func (f *frames) flush() error {
	if len(f.buf) == frameHead {
		return nil
	}
	if err := f.flushReferences(); err != nil {
		return err
	}
	f.buf[0] = f.section
	binary.LittleEndian.PutUint32(f.buf[1:], uint32(len(f.buf)-frameHead))
	sum := crc32.Update(crc32.Checksum(f.buf[:5], castagnoli), castagnoli, f.buf[frameHead:])
	binary.LittleEndian.PutUint32(f.buf[5:], sum)
	_, err := f.w.Write(f.buf)
	f.buf = f.buf[:frameHead]
	f.count++
	return err
}

// flushReferences puts the payloads that the frame names into files, if there are some, and writes the frame with their names.
func (f *frames) flushReferences() error {
	if len(f.named) == 0 {
		return nil
	}
	list := make([]payload.Kept, len(f.named))
	for i, k := range f.named {
		list[i] = k
	}
	if f.files != nil {
		if err := f.files.Place(list); err != nil {
			return err
		}
	}
	if f.names == nil {
		f.names = newFrames(f.w)
	}
	w := wire.Writer{B: f.room[:0]}
	for _, k := range list {
		d := k.Digest()
		w.Uvarint(uint64(k.Len()))
		w.Fixed(d[:])
	}
	f.room = w.B
	if err := f.names.record(sectionReferences, w.B); err != nil {
		return err
	}
	clear(f.named)
	f.named = f.named[:0]
	f.count++
	return f.names.flush()
}

func (f *frames) fields(section byte, fields func(*wire.Codec)) error {
	c := wire.Encoder(nil)
	fields(c)
	return f.record(section, c.B())
}

// end writes the frame that counts the others.
func (f *frames) end() error {
	if err := f.flush(); err != nil {
		return err
	}
	n := f.count
	if err := f.fields(sectionEnd, func(c *wire.Codec) { c.Uvarint(&n) }); err != nil {
		return err
	}
	return f.flush()
}
