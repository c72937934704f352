package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/script"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Restore replaces the state by a snapshot's. On an error the state is as before.
func (m *Machine) Restore(r io.Reader) error {
	s, index, term, err := readSnapshot(r, m.table, m.keeper)
	if err != nil {
		return err
	}
	m.mu.Lock()
	s.applier.yield, s.applier.charge, s.applier.progress = m.yield, m.charge, m.state.applier.progress
	m.state, m.index, m.term = s, index, term
	m.clock.Store(s.clock)
	m.level.Store(uint32(s.level))
	m.databases.Store(int64(s.databases.Len()))
	m.notePressure()
	m.notifySearch(index, nil, true)
	m.mu.Unlock()
	m.advance(index)
	if m.Hooks.Restored != nil {
		m.Hooks.Restored()
	}
	return nil
}

// VerifySnapshot reads a snapshot without using it and returns its index and term.
func VerifySnapshot(r io.Reader) (index, term uint64, err error) {
	_, index, term, err = readSnapshot(r, command.NewTable(), nil)
	return index, term, err
}

// loading is a snapshot that is being read.
type loading struct {
	s           *State
	index, term uint64
	database    *database // whose sections are being read
	tenant      *database // whose messages and runs are being read
	user        string    // the last one read
	keys        *keyspace.Loader
	section     byte
	count       uint64
	ended       bool
	headless    bool // there are sections only, see backup.go
	// references are the payloads that the next frame names, nil if the snapshot names none. find finds them.
	references *wire.References
	find       Finder
	blankRuns  []byte // the only record of runs of a database that has none
}

// Finder returns the payloads that are named, in the same order.
type Finder func([]payload.Reference) ([]payload.Kept, error)

// refer has the frames that follow name payloads, which find finds.
func (l *loading) refer(find Finder) { l.references, l.find = &wire.References{}, find }

func readSnapshot(r io.Reader, table *command.Table, keeper payload.Keeper) (*State, uint64, uint64, error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return nil, 0, 0, fmt.Errorf("%w: no magic number", ErrSnapshot)
	}
	l := &loading{s: newState(table, keeper)}
	if err := l.all(r); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return l.s, l.index, l.term, nil
}

// all reads frames up to the last one, behind which nothing may follow.
func (l *loading) all(r io.Reader) error {
	var frame []byte
	for !l.ended {
		section, data, err := readFrame(r, &frame)
		if err == nil {
			err = l.frame(section, data)
		}
		if err != nil {
			return fmt.Errorf("frame %d: %w", l.count, err)
		}
	}
	if n, err := io.ReadFull(r, make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("data behind the end (%v)", err)
	}
	if l.s.home == nil {
		return errors.New("no database " + DefaultDB)
	}
	l.s.settleLoaded()
	return nil
}

var (
	errSum     = errors.New("checksum mismatch")
	errOrder   = errors.New("sections out of order")
	errSection = errors.New("unknown section or format")
	errCount   = errors.New("frames are missing")
	// errReferences: a frame names more payloads or fewer than the one before it lists.
	errReferences = errors.New("records and the payloads that they name do not belong together")
	errNoFiles    = errors.New("it names payloads, and there are no files of them")
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
	if section == sectionReferences && l.references != nil {
		l.count++
		return l.names(data)
	}
	again := section == sectionDatabase || section == sectionTenant // which come for one database after the other
	next := section >= l.section || (again && l.section > section && l.section < sectionEnd)
	if !next || (l.count == 0 && !l.headless) != (section == sectionHeader) {
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
	if l.references != nil && l.references.Len() > 0 {
		return errReferences
	}
	l.count++
	return nil
}

// names takes in the payloads that the next frame names.
func (l *loading) names(data []byte) error {
	list, err := decodeReferences(data)
	if err != nil {
		return err
	}
	if l.references.Len() > 0 {
		return errReferences
	}
	found, err := l.find(list)
	if err != nil {
		return err
	}
	for _, k := range found {
		l.references.Add(k)
	}
	return nil
}

func (l *loading) record(section byte, record []byte) error {
	r := wire.NewReader(record)
	switch section {
	case sectionHeader:
		format, level := r.Uvarint(), r.Uvarint()
		if format == referringFormat && level >= uint64(env.Files) {
			files, can := l.s.keeper.(payload.Files)
			if !can {
				return errNoFiles
			}
			format = snapshotFormat
			l.refer(func(list []payload.Reference) ([]payload.Kept, error) { return files.Named(list), nil })
		}
		if l.index, l.term = r.Uvarint(), r.Uvarint(); format != snapshotFormat || level > uint64(MaxLevel) {
			return fmt.Errorf("%w: format %d, feature level %d", errSection, format, level)
		}
		if level < uint64(env.Base) {
			return FormerLevel(env.Level(level))
		}
	case sectionMeta:
		return l.meta(record)
	case sectionSessions:
		c := &session{}
		r.Get(c)
		l.s.sessions = append(l.s.sessions, c)
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
	case sectionMessages, sectionWorkflows, sectionTenantMessages, sectionTenantWorkflows:
		return l.deliveries(section, record)
	case sectionTenant:
		l.tenant = l.s.database(r.String())
		if l.tenant == nil || l.tenant == l.s.home {
			return errOrder
		}
	case sectionSearch:
		return l.search(record)
	case sectionStage:
		return l.stage(record)
	case sectionEnded:
		return l.endedSession(r)
	case sectionFragments:
		r.Get(&l.s.fragments)
		l.s.fragments.data = bytes.Clone(l.s.fragments.data)
	case sectionQuarantine:
		return l.quarantine(record)
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

// meta takes in what stands before all databases.
func (l *loading) meta(record []byte) error {
	c := wire.Decoder(record)
	l.s.metaFields(c)
	l.s.blank = l.s.blank.raised(l.s.level)
	l.s.databases, l.s.home, l.s.sums, l.s.logins = newDatabases(), nil, sums{}, newTokenIndex()
	return c.Done()
}

// node takes in what is remembered of a node.
func (l *loading) node(r *wire.Reader) error {
	var n NodeRecord
	r.Get(&n)
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
	if n := l.s.databases.Len(); !ValidDatabaseName(d.name) || (n > 0 && l.s.databases.At(n-1) >= d.name) {
		return fmt.Errorf("%w: database %.70q", errOrder, d.name)
	}
	l.database, l.user, l.keys = d, "", nil
	l.s.put(d)
	return r.Done()
}

// search takes in the search indexes of a database.
func (l *loading) search(record []byte) error {
	c := wire.Decoder(bytes.Clone(record)) // definitions alias it
	name := ""
	c.String(&name)
	d := l.s.database(name)
	if d == nil || d.search.Used() {
		return errOrder
	}
	d.search = search.NewStore()
	c.Record(d.search.Fields)
	if err := c.Done(); err != nil {
		return err
	}
	if !d.search.Valid() {
		return errOrder
	}
	return nil
}

// deliveries takes in a record of messages or runs.
func (l *loading) deliveries(section byte, record []byte) error {
	d := l.s.home
	if section == sectionTenantMessages || section == sectionTenantWorkflows {
		d = l.tenant
	}
	switch {
	case d == nil:
		return errOrder
	case d.messages == nil && l.blank(d, section, record):
		return nil
	case d.messages == nil:
		d.messages, d.workflows = l.s.newStores()
		d.messages.SetKeys(d.signing)
	}
	switch {
	case section == sectionMessages || section == sectionTenantMessages:
		return d.messages.LoadReferences(record, l.references)
	}
	return d.workflows.LoadReferences(record, l.references)
}

// blank reports whether a record says only what is so of a database without messages and runs, and takes in the keys of messages.
func (l *loading) blank(d *database, section byte, record []byte) bool {
	if section == sectionMessages || section == sectionTenantMessages {
		keys, is := l.s.blank.messages.IsHead(record)
		if is {
			d.signing = keys
		}
		return is
	}
	if l.blankRuns == nil {
		_ = l.s.blank.workflows.Save(func(record []byte) error { l.blankRuns = bytes.Clone(record); return nil })
	}
	return bytes.Equal(record, l.blankRuns)
}

func (l *loading) content(section byte, record []byte) (err error) {
	switch {
	case l.database == nil:
		return errOrder
	case section == sectionUsers:
		l.user, err = l.database.users.Load(record, l.user)
		return err
	case section == sectionScripts:
		if l.database.scripts == l.s.blank.scripts {
			l.database.scripts = script.NewStore()
		}
		return l.database.scripts.Load(record)
	}
	if l.keys == nil {
		l.keys = keyspace.NewLoader()
	}
	return l.keys.AddReferences(record, l.references)
}

func (l *loading) finish() (err error) {
	if d := l.database; d != nil && l.keys != nil {
		remembered := d.keys
		if d.keys, err = l.keys.Finish(); err == nil {
			d.keys.Inherit(remembered)
		}
	}
	if d := l.database; d != nil && err == nil && d.keys != l.s.blank.keys {
		d.keys.Arrived(l.s.clock)
	}
	l.database = nil
	return err
}

// SnapshotLevel reads the beginning of a snapshot and returns the feature level that it was
// written at.
func SnapshotLevel(r io.Reader) (env.Level, error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return 0, fmt.Errorf("%w: no magic number", ErrSnapshot)
	}
	var frame []byte
	section, data, err := readFrame(r, &frame)
	if err != nil || section != sectionHeader {
		return 0, fmt.Errorf("%w: no header: %w", ErrSnapshot, errors.Join(err, errOrder))
	}
	header := wire.NewReader(wire.NewReader(data).Bytes())
	_, level := header.Uvarint(), header.Uvarint()
	if err := header.Err(); err != nil || level > 1<<32-1 {
		return 0, fmt.Errorf("%w: header: %w", ErrSnapshot, errors.Join(err, errSection))
	}
	return env.Level(level), nil
}
