package fsm

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"trireme/fsm/env"
	"trireme/fsm/wire"
	"trireme/mutant"
)

// A snapshot is a magic number and then frames. Each frame has a head of its
// section, its length and a CRC-32C over section, length and data; the data are
// length-prefixed records of that section. The first frame is the header, the last
// one counts the others, so that a file cut short between two frames is noticed.
const (
	snapshotMagic  = "TRIREME\n"
	snapshotFormat = 1
	frameHead      = 9
	frameSize      = 64 << 10
	maxFrame       = 1 << 30 // one record can't be split: the largest value and its frame
)

// Sections. Codes are append-only.
const (
	sectionHeader   byte = 0
	sectionMeta     byte = 1
	sectionSessions byte = 2
	// The sections of a database follow its head, for one database after the other.
	sectionDatabase byte = 3
	sectionUsers    byte = 4
	sectionKeys     byte = 5
	sectionScripts  byte = 6
	// What the cluster remembers of its nodes follows the databases.
	sectionNodes byte = 7
	// The kept replies of all databases follow that, then the subscriber counts, the messages and the
	// workflow runs.
	sectionRetries  byte = 16
	sectionChannels byte = 17
	sectionMessages byte = 18
	sectionFlows    byte = 19
	// A backup that is coming in, see restore.go.
	sectionStage byte = 20
	sectionEnd   byte = 255
)

// ErrSnapshot says that a snapshot is damaged or of an unknown form. Nothing was
// changed.
var ErrSnapshot = errors.New("fsm: snapshot is damaged or unknown")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frames writes records into frames of one section after the other.
type frames struct {
	w       io.Writer
	section byte
	buf     []byte // head and data of the frame that is filling
	count   uint64
}

func newFrames(w io.Writer) *frames {
	return &frames{w: w, buf: make([]byte, frameHead, frameSize+frameHead)}
}

// record adds one record to the section.
func (f *frames) record(section byte, data []byte) error {
	if f.section != section || (len(f.buf) > frameHead && len(f.buf)+len(data) > frameSize) {
		if err := f.flush(); err != nil {
			return err
		}
		f.section = section
	}
	f.buf = binary.AppendUvarint(f.buf, uint64(len(data)))
	f.buf = append(f.buf, data...)
	return nil
}

func (f *frames) flush() error {
	if len(f.buf) == frameHead {
		return nil
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

func (f *frames) fields(section byte, write func(*wire.Writer)) error {
	var w wire.Writer
	write(&w)
	return f.record(section, w.B)
}

// end writes the frame that counts the others.
func (f *frames) end() error {
	if err := f.flush(); err != nil {
		return err
	}
	n := f.count
	if err := f.fields(sectionEnd, func(w *wire.Writer) { w.Uvarint(n) }); err != nil {
		return err
	}
	return f.flush()
}

func (f *Frozen) writeSnapshot(w io.Writer) error {
	if _, err := io.WriteString(w, snapshotMagic); err != nil {
		return err
	}
	out := newFrames(w)
	err := out.fields(sectionHeader, func(w *wire.Writer) {
		w.Uvarint(snapshotFormat)
		w.Uvarint(uint64(f.s.level))
		w.Uvarint(f.index)
		w.Uvarint(f.term)
	})
	if err != nil {
		return err
	}
	if err := f.sections(out); err != nil {
		return err
	}
	return out.end()
}

// writeSections writes what a digest covers: the sections, without the header.
func (f *Frozen) writeSections(w io.Writer) error {
	out := newFrames(w)
	if err := f.sections(out); err != nil {
		return err
	}
	return out.end()
}

func (f *Frozen) sections(out *frames) error {
	if err := out.fields(sectionMeta, f.s.encodeMeta); err != nil {
		return err
	}
	for _, c := range f.s.sessions {
		if err := out.fields(sectionSessions, c.encode); err != nil {
			return err
		}
	}
	for _, d := range f.s.databases {
		if err := d.save(out); err != nil {
			return err
		}
	}
	for i := range f.s.nodes {
		if err := out.fields(sectionNodes, f.s.nodes[i].Encode); err != nil {
			return err
		}
	}
	if err := f.s.retries.Save(func(record []byte) error {
		if mutant.Is(mutant.RepliesForgotten) {
			return nil
		}
		return out.record(sectionRetries, record)
	}); err != nil {
		return err
	}
	if err := f.s.channels.Save(func(record []byte) error { return out.record(sectionChannels, record) }); err != nil {
		return err
	}
	if err := f.s.messages.Save(func(record []byte) error { return out.record(sectionMessages, record) }); err != nil {
		return err
	}
	if err := f.s.flows.Save(func(record []byte) error { return out.record(sectionFlows, record) }); err != nil {
		return err
	}
	if f.s.staged == nil {
		return nil
	}
	return f.s.staged.save(func(record []byte) error { return out.record(sectionStage, record) })
}

// save writes the sections of a database.
func (d *database) save(out *frames) error {
	if err := out.flush(); err != nil { // every head begins a frame
		return err
	}
	if err := out.fields(sectionDatabase, d.encode); err != nil {
		return err
	}
	if err := d.users.Save(func(record []byte) error { return out.record(sectionUsers, record) }); err != nil {
		return err
	}
	if err := d.keys.Save(func(record []byte) error { return out.record(sectionKeys, record) }); err != nil {
		return err
	}
	return d.scripts.Save(func(record []byte) error { return out.record(sectionScripts, record) })
}

func (s *State) encodeMeta(w *wire.Writer) {
	w.String(s.clusterID)
	w.Varint(s.clock)
	w.Uvarint(s.epoch)
	w.Uvarint(uint64(s.level))
	w.Record(s.settings.Encode)
	w.Record(s.tokens.Encode)
	w.Record(s.founded.Encode)
	w.Uvarint(s.adminSerial)
	w.Fixed(s.secret[:])
	w.Uvarint(s.serial)
	w.Uvarint(s.digestIndex)
	w.Uvarint(uint64(len(s.reports)))
	for i := range s.reports {
		w.Record(s.reports[i].Encode)
	}
	s.opened.Encode(w)
	if s.restored != "" { // which came later
		w.String(s.restored)
	}
}

func (s *State) decodeMeta(r *wire.Reader) error {
	s.clusterID, s.clock, s.epoch, s.level = r.String(), r.Varint(), r.Uvarint(), env.Level(r.Uvarint())
	settings, tokens, founded := r.Record(), r.Record(), r.Record()
	s.settings.Decode(settings)
	s.tokens.Decode(tokens)
	s.founded.Decode(founded)
	s.adminSerial = r.Uvarint()
	copy(s.secret[:], r.Fixed(len(s.secret)))
	s.serial, s.databases, s.home = r.Uvarint(), nil, nil
	s.digestIndex = r.Uvarint()
	s.reports = make([]DigestReport, r.Count(1))
	for i := range s.reports {
		s.reports[i].Decode(r.Record())
	}
	s.opened.Decode(r)
	if r.Len() > 0 {
		s.restored = r.String()
	}
	return errors.Join(settings.Done(), tokens.Done(), founded.Done(), r.Done())
}
