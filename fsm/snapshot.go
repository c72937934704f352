package fsm

import (
	"errors"
	"hash/crc32"
	"io"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A snapshot is a magic number and then frames. Each frame has a head of its
// section, its length and a CRC-32C over section, length and data; the data are
// length-prefixed records of that section. The first frame is the header, the last
// one counts the others, so that a file cut short between two frames is noticed.
const (
	snapshotMagic  = "TRIREME\n"
	snapshotFormat = 1
	// referringFormat is that of a snapshot that names payloads. A frame of sectionReferences precedes each frame whose records name
	// some.
	referringFormat = 2
	frameHead       = 9
	frameSize       = 64 << 10
	maxFrame        = 1 << 30 // one record can't be split: the largest value and its frame
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
	sectionRetries   byte = 16
	sectionChannels  byte = 17
	sectionMessages  byte = 18
	sectionWorkflows byte = 19
	// A backup that is coming in, see restore.go.
	sectionStage byte = 20
	// The messages and the runs of each database but default, after its name.
	sectionTenant          byte = 21
	sectionTenantMessages  byte = 22
	sectionTenantWorkflows byte = 23
	// The search indexes and aliases of each database that has, or had, some: its name and its store.
	sectionSearch byte = 24
	// Sessions of the console that were signed out.
	sectionEnded byte = 40
	// The fragments of a large entry that is under way.
	sectionFragments byte = 41
	// The databases in quarantine.
	sectionQuarantine byte = 42
	// The payloads that the records of the next frame name, in their order: length and digest of each. They may stand before
	// frames of any section.
	sectionReferences byte = 43
	sectionEnd        byte = 255
)

// ErrSnapshot says that a snapshot is damaged or of an unknown form. Nothing was
// changed.
var ErrSnapshot = errors.New("fsm: snapshot is damaged or unknown")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeSnapshot writes the state with the bytes of its payloads, or with their names if files is not nil.
func (f *Frozen) writeSnapshot(w io.Writer, files payload.Files) error {
	if _, err := io.WriteString(w, snapshotMagic); err != nil {
		return err
	}
	out, format := newFrames(w), uint64(snapshotFormat)
	if files != nil {
		out.files, out.references, format = files, &wire.References{}, referringFormat
	}
	var head wire.Writer
	head.Uvarint(format)
	head.Uvarint(uint64(f.s.level))
	head.Uvarint(f.index)
	head.Uvarint(f.term)
	if err := out.record(sectionHeader, head.B); err != nil {
		return err
	}
	if err := f.sections(out); err != nil {
		return err
	}
	return out.end()
}

// writeSections writes what a backup has: the sections, without the header. With named, they name their large payloads.
func (f *Frozen) writeSections(w io.Writer, named bool) error {
	out := newFrames(w)
	out.nameAll(named)
	if err := f.sections(out); err != nil {
		return err
	}
	return out.end()
}

func (f *Frozen) sections(out *frames) error {
	if err := out.fields(sectionMeta, f.s.metaFields); err != nil {
		return err
	}
	for _, c := range f.s.sessions {
		if err := out.fields(sectionSessions, c.Fields); err != nil {
			return err
		}
	}
	for d := f.s.first(nil); d != nil; d = f.s.after(d, nil) {
		if err := d.save(out, f.s.level); err != nil {
			return err
		}
	}
	for i := range f.s.nodes {
		if err := out.fields(sectionNodes, f.s.nodes[i].Fields); err != nil {
			return err
		}
	}
	if err := f.s.retries.Save(func(record []byte) error { return out.record(sectionRetries, record) }); err != nil {
		return err
	}
	if err := f.s.channels.Save(func(record []byte) error { return out.record(sectionChannels, record) }); err != nil {
		return err
	}
	if err := out.saver(f.s.home.queue(f.s.blank))(func(record []byte) error { return out.record(sectionMessages, record) }); err != nil {
		return err
	}
	if err := out.saver(f.s.home.runs(f.s.blank))(func(record []byte) error { return out.record(sectionWorkflows, record) }); err != nil {
		return err
	}
	if f.s.stage.incoming != nil {
		if err := f.s.stage.incoming.save(func(record []byte) error { return out.record(sectionStage, record) }); err != nil {
			return err
		}
	}
	for p, name, ok := f.s.databases.Next("", true, nil); ok; p, name, ok = f.s.databases.Next(name, false, nil) {
		if err := f.saveTenant(out, name, p); err != nil {
			return err
		}
	}
	for p, name, ok := f.s.databases.Next("", true, nil); ok; p, name, ok = f.s.databases.Next(name, false, nil) {
		if p.resting != nil {
			continue
		}
		if err := p.awake.saveSearch(out); err != nil {
			return err
		}
	}
	for i := range f.s.ended {
		if err := out.fields(sectionEnded, f.s.ended[i].Fields); err != nil {
			return err
		}
	}
	if f.s.fragments.term != 0 {
		if err := out.fields(sectionFragments, f.s.fragments.Fields); err != nil {
			return err
		}
	}
	for d := f.s.first(has(isQuarantined)); d != nil; d = f.s.after(d, has(isQuarantined)) {
		if err := out.fields(sectionQuarantine, d.quarantineFields); err != nil {
			return err
		}
	}
	return nil
}

// saver returns the function that saves a store of keys, messages or workflows: whole, with digests in place of large payloads, or
// with the names of payloads.
func (f *frames) saver(s interface {
	Save(emit func([]byte) error) error
	SaveDigests(emit func([]byte) error) error
	SaveReferences(emit func([]byte) error, refs *wire.References) error
}) func(func([]byte) error) error {
	switch {
	case f.digests:
		return s.SaveDigests
	case f.references != nil:
		return func(emit func([]byte) error) error { return s.SaveReferences(emit, f.references) }
	}
	return s.Save
}

// saveTenant writes the messages and runs of a database, unless it is default, whose sections come before.
func (f *Frozen) saveTenant(out *frames, name string, p place) error {
	if name == DefaultDB {
		return nil
	}
	var messages *queue.Store
	runs := f.s.blank.workflows
	if r := p.resting; r != nil {
		messages = f.s.blank.messages.WithKeys(r.signing())
	} else {
		messages, runs = p.awake.queue(f.s.blank), p.awake.runs(f.s.blank)
	}
	if err := out.fields(sectionTenant, func(c *wire.Codec) { c.String(&name) }); err != nil {
		return err
	}
	if err := out.saver(messages)(func(record []byte) error { return out.record(sectionTenantMessages, record) }); err != nil {
		return err
	}
	return out.saver(runs)(func(record []byte) error { return out.record(sectionTenantWorkflows, record) })
}

// saveSearch writes the search indexes of a database, if it ever had any.
func (d *database) saveSearch(out *frames) error {
	if !d.search.Used() {
		return nil
	}
	return out.fields(sectionSearch, func(c *wire.Codec) {
		c.String(&d.name)
		c.Record(d.search.Fields)
	})
}

// save writes the sections of a database.
func (d *database) save(out *frames, level env.Level) error {
	if err := out.flush(); err != nil { // every head begins a frame
		return err
	}
	if err := out.fields(sectionDatabase, func(c *wire.Codec) { d.encode(c.Writer()) }); err != nil {
		return err
	}
	if err := d.users.Save(func(record []byte) error { return out.record(sectionUsers, record) }); err != nil {
		return err
	}
	keys := d.keys.Save
	if level >= env.Files {
		keys = out.saver(d.keys)
	}
	if err := keys(func(record []byte) error { return out.record(sectionKeys, record) }); err != nil {
		return err
	}
	return d.scripts.Save(func(record []byte) error { return out.record(sectionScripts, record) })
}

// metaFields codes the part of a state that is not databases, messages, workflows or nodes.
func (s *State) metaFields(c *wire.Codec) {
	c.String(&s.clusterID)
	c.Varint(&s.clock)
	c.Uvarint(&s.epoch)
	wire.Uint(c, &s.level)
	c.Record(s.settings.Fields)
	c.Record(s.tokens.inForce.Fields)
	c.Record(s.tokens.founded.Fields)
	c.Uvarint(&s.tokens.adminSerial)
	c.Fixed(s.secret[:])
	c.Uvarint(&s.serial)
	c.Uvarint(&s.digests.index)
	wire.Records(c, &s.digests.reports)
	s.opened.Fields(c)
	held := int64(0) // how far wall time is behind
	if !c.Reading() {
		held = s.clock - s.wall
	}
	former := len(s.tokens.former) > 0 || held != 0
	salt := s.tokens.salt != acl.Salt{} || former
	if c.More(s.stage.taken != "" || salt) {
		c.String(&s.stage.taken)
	}
	if c.More(salt) {
		c.Fixed(s.tokens.salt[:])
	}
	if c.More(former) {
		wire.Records(c, (*[]FormerToken)(&s.tokens.former))
	}
	if c.More(held != 0) { // from the level env.Files on
		c.Varint(&held)
	}
	if c.Reading() {
		s.wall = s.clock - held
	}
}
