package fsm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/fsm/keyspace"
	"trireme/fsm/wire"
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
	sectionEnd      byte = 255
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
	if err := f.s.retries.Save(func(record []byte) error { return out.record(sectionRetries, record) }); err != nil {
		return err
	}
	if err := f.s.channels.Save(func(record []byte) error { return out.record(sectionChannels, record) }); err != nil {
		return err
	}
	if err := f.s.messages.Save(func(record []byte) error { return out.record(sectionMessages, record) }); err != nil {
		return err
	}
	return f.s.flows.Save(func(record []byte) error { return out.record(sectionFlows, record) })
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
	return errors.Join(settings.Done(), tokens.Done(), founded.Done(), r.Done())
}

// Restore replaces the state by a snapshot's. On an error the state is as before.
func (m *Machine) Restore(r io.Reader) error {
	s, index, term, err := readSnapshot(r, m.table)
	if err != nil {
		return err
	}
	m.mu.Lock()
	s.between, s.weigh = m.between, m.weigh
	m.state, m.index, m.term = s, index, term
	m.clock.Store(s.clock)
	m.mu.Unlock()
	m.advance(index)
	if m.Hooks.Restored != nil {
		m.Hooks.Restored()
	}
	return nil
}

// VerifySnapshot reads a snapshot without using it and gives its index and term.
func VerifySnapshot(r io.Reader) (index, term uint64, err error) {
	_, index, term, err = readSnapshot(r, command.NewTable())
	return index, term, err
}

// loading is a snapshot that is being read.
type loading struct {
	s           *State
	index, term uint64
	database    *database // whose sections are being read
	user        string    // the last one read
	keys        *keyspace.Loader
	section     byte
	count       uint64
	ended       bool
}

func readSnapshot(r io.Reader, table *command.Table) (*State, uint64, uint64, error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return nil, 0, 0, fmt.Errorf("%w: no magic number", ErrSnapshot)
	}
	l := &loading{s: newState(table)}
	var frame []byte
	for !l.ended {
		section, data, err := readFrame(r, &frame)
		if err == nil {
			err = l.frame(section, data)
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("%w: frame %d: %w", ErrSnapshot, l.count, err)
		}
	}
	if n, err := io.ReadFull(r, magic[:1]); n != 0 || !errors.Is(err, io.EOF) {
		return nil, 0, 0, fmt.Errorf("%w: data behind the end (%v)", ErrSnapshot, err)
	}
	if l.s.home == nil {
		return nil, 0, 0, fmt.Errorf("%w: no database %s", ErrSnapshot, DefaultDB)
	}
	return l.s, l.index, l.term, nil
}

var (
	errSum     = errors.New("checksum mismatch")
	errOrder   = errors.New("sections out of order")
	errSection = errors.New("unknown section or format")
	errCount   = errors.New("frames are missing")
)

// readFrame reads a frame; its data are valid until the next call. The buffer grows
// with what was read, never by what a damaged length claims.
func readFrame(r io.Reader, buf *[]byte) (section byte, data []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("cut short: %w", err)
	}
	n := int(binary.LittleEndian.Uint32(head[1:]))
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: %d bytes", errSum, n)
	}
	b := (*buf)[:0]
	for len(b) < n {
		step := min(n-len(b), max(frameSize, len(b)))
		have := len(b)
		if cap(b) < have+step {
			b = append(make([]byte, 0, have+step), b...)
		}
		b = b[:have+step]
		if _, err := io.ReadFull(r, b[have:]); err != nil {
			return 0, nil, fmt.Errorf("cut short: %w", err)
		}
	}
	*buf = b
	if crc32.Update(crc32.Checksum(head[:5], castagnoli), castagnoli, b) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, errSum
	}
	return head[0], b, nil
}

// frame takes in the records of one frame.
func (l *loading) frame(section byte, data []byte) error {
	next := section >= l.section || (section == sectionDatabase && l.section > section && l.section < sectionEnd)
	if !next || (l.count == 0) != (section == sectionHeader) {
		return errOrder
	}
	l.section = section
	r := wire.NewReader(data)
	for r.Len() > 0 {
		record := r.Bytes()
		if r.Err() != nil {
			return r.Err()
		}
		if err := l.record(section, record); err != nil {
			return err
		}
	}
	l.count++
	return nil
}

func (l *loading) record(section byte, record []byte) error {
	r := wire.NewReader(record)
	switch section {
	case sectionHeader:
		format, level := r.Uvarint(), r.Uvarint()
		if l.index, l.term = r.Uvarint(), r.Uvarint(); format != snapshotFormat || level > uint64(MaxLevel) {
			return fmt.Errorf("%w: format %d, feature level %d", errSection, format, level)
		}
	case sectionMeta:
		return l.s.decodeMeta(r)
	case sectionSessions:
		l.s.sessions = append(l.s.sessions, decodeSession(r))
	case sectionDatabase:
		return l.begin(r)
	case sectionUsers, sectionKeys, sectionScripts:
		return l.content(section, record)
	case sectionNodes:
		return l.node(r)
	case sectionRetries:
		return l.s.retries.Load(record)
	case sectionChannels:
		return l.s.channels.Load(record)
	case sectionMessages:
		return l.s.messages.Load(record)
	case sectionFlows:
		return l.s.flows.Load(record)
	case sectionEnd:
		if err := l.finish(); err != nil {
			return err
		}
		if n := r.Uvarint(); n != l.count {
			return fmt.Errorf("%w: %d of %d", errCount, l.count, n)
		}
		l.ended = true
	default:
		return fmt.Errorf("%w: section %d", errSection, section)
	}
	return r.Done()
}

// node takes in what is remembered of a node.
func (l *loading) node(r *wire.Reader) error {
	var n NodeRecord
	n.Decode(r)
	if last := len(l.s.nodes); last > 0 && l.s.nodes[last-1].Node >= n.Node {
		return fmt.Errorf("%w: node %.70q", errOrder, n.Node)
	}
	l.s.nodes = append(l.s.nodes, n)
	return r.Done()
}

// begin takes in the head of the next database, after finishing the one before.
func (l *loading) begin(r *wire.Reader) error {
	if err := l.finish(); err != nil {
		return err
	}
	d := l.s.decodeDatabase(r)
	if n := len(l.s.databases); !ValidDatabaseName(d.name) || (n > 0 && l.s.databases[n-1].name >= d.name) {
		return fmt.Errorf("%w: database %.70q", errOrder, d.name)
	}
	l.database, l.user, l.keys = d, "", keyspace.NewLoader()
	l.s.databases = append(l.s.databases, d)
	if d.name == DefaultDB {
		l.s.home = d
	}
	return r.Done()
}

func (l *loading) content(section byte, record []byte) (err error) {
	switch {
	case l.database == nil:
		return errOrder
	case section == sectionUsers:
		l.user, err = l.database.users.Load(record, l.user)
		return err
	case section == sectionScripts:
		return l.database.scripts.Load(record)
	}
	return l.keys.Add(record)
}

func (l *loading) finish() (err error) {
	if l.database != nil {
		remembered := l.database.keys
		if l.database.keys, err = l.keys.Finish(); err == nil {
			l.database.keys.Inherit(remembered)
		}
	}
	l.database = nil
	return err
}
