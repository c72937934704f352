package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A backup is restored through the log: its bytes come in parts, which every node keeps aside, and then one entry has
// every node read them and take the state over. So all nodes do it at one place in the log, whoever leads, and none does
// it unless a majority has all of the backup. docs/design/backup.md compares that with other ways.

const (
	// PartBytes is the most bytes of one part.
	PartBytes = 1 << 20
	// stageKept is the time after which parts that nothing follows are dropped, in milliseconds.
	stageKept = 10 * 60_000
	// stageTaken is the time after a part in which no other backup may begin, in milliseconds.
	stageTaken = 30_000
)

// The refusals of parts and restores. Nothing has changed then.
var (
	// ErrNotEmpty: a backup is restored into an empty cluster only.
	ErrNotEmpty = &Error{Code: "not-empty", Text: "a backup is restored into an empty cluster only"}
	// ErrRestoring: another backup is being restored.
	ErrRestoring = &Error{Code: "restoring", Text: "another backup is coming in at this moment: try again in a minute"}
	// ErrNotStaged: the parts that came before are not there, or not those that were told.
	ErrNotStaged = &Error{Code: "not-staged", Text: "the parts of the backup are not all there: restore it again"}
	// ErrBadBackup: what has come in can't be read as a backup.
	ErrBadBackup = &Error{Code: "backup", Text: "the backup is damaged"}
)

// staged is a backup that is coming in. It is replaced with every part, and never changed: forks share it.
type staged struct {
	id      string
	size    uint64
	touched int64 // when the last part came, cluster time
	parts   [][]byte
}

// BackupPart is the next part of a backup that is to be restored.
type BackupPart struct {
	// ID is drawn at random by the node that restores, for this restore.
	ID string
	// Offset is the position of the part in the file, in bytes. Each part begins at the end of the one before.
	Offset uint64
	// Data is empty to call it off.
	Data []byte
	// Database is the database that the messages of the file are for. It is empty for a backup of everything.
	Database string
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (bp *BackupPart) Fields(c *wire.Codec) {
	c.String(&bp.ID)
	c.Uvarint(&bp.Offset)
	c.Bytes(&bp.Data)
	if c.More(bp.Database != "") {
		c.String(&bp.Database)
	}
}

// stage is what comes in part by part, a backup or messages, before it takes the place of what there is.
type stage struct {
	incoming *staged // nil if there is none
	taken    string  // what the last one that came in whole was staged as
}

// take ends the stage and returns what was staged as an id if all of it is there, nil otherwise.
func (s *stage) take(id string, size uint64) *staged {
	in := s.incoming
	if in == nil || in.id != id || in.size != size {
		return nil
	}
	s.incoming = nil
	return in
}

// wasTaken reports whether the last one that came in whole was staged as id.
func (s *stage) wasTaken(id string) bool { return id != "" && id == s.taken }

// expire forgets parts that nothing has followed.
func (s *stage) expire(now int64) {
	if s.incoming != nil && now-s.incoming.touched >= stageKept {
		s.incoming = nil
	}
}

// stageBackup keeps a part. One that has come before is taken for done, so that it may be sent again.
func (s *State) stageBackup(e *env.Env, n BackupPart) (Ack, error) {
	now := s.stage.incoming
	mine := now != nil && now.id == n.ID
	switch {
	case len(n.Data) == 0:
		if mine {
			s.stage.incoming = nil
		}
		return Ack{}, nil
	case len(n.Data) > PartBytes || n.ID == "":
		return Ack{}, ErrMalformed
	case mine && n.Offset+uint64(len(n.Data)) <= now.size:
		return Ack{}, nil
	case mine && n.Offset == now.size:
	case n.Offset != 0:
		return Ack{}, ErrNotStaged
	case now != nil && e.Now-now.touched < stageTaken:
		return Ack{}, ErrRestoring
	default:
		if err := s.refuseStaging(n.Database); err != nil {
			return Ack{}, err
		}
		now = &staged{id: n.ID}
	}
	next := &staged{id: now.id, size: now.size + uint64(len(n.Data)), touched: e.Now}
	next.parts = append(now.parts, bytes.Clone(n.Data)) // behind what forks see
	s.stage.incoming = next
	return Ack{}, nil
}

// refuseStaging is an error if what is to come in has no place: a backup in a cluster that is not empty, messages in a
// database that has some.
func (s *State) refuseStaging(database string) error {
	if database == "" {
		return s.refuseUsed()
	}
	_, err := s.refuseMessages(database)
	return err
}

// refuseUsed is an error that says what there is in a cluster that is not empty.
func (s *State) refuseUsed() error {
	c := s.contents()
	if has := c.Remarkable(); has != "" {
		return &Error{Code: ErrNotEmpty.Code, Text: ErrNotEmpty.Text + "; this one has " + has}
	}
	return nil
}

// BackupRef names a backup whose parts have all come in.
type BackupRef struct {
	ID   string
	Size uint64
}

// Fields codes the value in its wire format.
func (br *BackupRef) Fields(c *wire.Codec) {
	c.String(&br.ID)
	c.Uvarint(&br.Size)
}

// Restoration is the result of a restore.
type Restoration struct {
	// Index is the log index of the restore, Epoch the state's epoch since.
	Index, Epoch uint64
	// Contents describes the backup.
	Contents Contents
}

// Fields codes the value in its wire format.
func (r *Restoration) Fields(c *wire.Codec) {
	c.Uvarint(&r.Index)
	c.Uvarint(&r.Epoch)
	c.Record(r.Contents.Fields)
}

// restoreBackup replaces the state by that of a backup that has come in. It may be asked again.
func (s *State) restoreBackup(e *env.Env, n BackupRef) (Restoration, error) {
	if s.stage.wasTaken(n.ID) {
		return Restoration{Index: e.Index, Epoch: s.epoch, Contents: s.contents()}, nil
	}
	in := s.stage.take(n.ID, n.Size)
	if in == nil {
		return Restoration{}, ErrNotStaged
	}
	if err := s.refuseUsed(); err != nil {
		return Restoration{}, err
	}
	readers := make([]io.Reader, len(in.parts))
	for i, part := range in.parts {
		readers[i] = bytes.NewReader(part)
	}
	_, from, err := readBackup(io.MultiReader(readers...), s.applier.table, 0, s.keeper, nil)
	switch {
	case errors.Is(err, ErrBackupNewer):
		return Restoration{}, fmt.Errorf("%w: %w", ErrUnknownLevel, err)
	case errors.Is(err, ErrFormerLevel): // which version 0.2.0 had accepted
		return Restoration{}, err
	case err != nil:
		return Restoration{}, &Error{Code: ErrBadBackup.Code, Text: err.Error()}
	}
	out := Restoration{Index: e.Index, Contents: from.contents()}
	s.replaceBy(e, from)
	s.stage.taken, out.Epoch = n.ID, s.epoch
	return out, nil
}

// replaceBy takes over what from has and keeps what is the cluster's own: its id, its nodes, who leads, its time. What was
// under way when the backup was made belongs to none any more: sessions, claims, subscribers. Whatever a credential of this
// cluster has proved before proves nothing now, although numbers of credentials of the backup may be the same: they
// are moved.
func (s *State) replaceBy(e *env.Env, from *State) {
	shift := max(s.serial, s.home.users.Serial())
	from.serial += shift
	for len(from.tokens.former) > 0 { // their time was the former cluster's
		from.dropFormer(0)
	}
	from.changeAll(func(d *database) { d.users.Renumber(shift) })
	from.clusterID, from.nodes, from.opened = s.clusterID, s.nodes, s.opened
	from.clock, from.wall = max(s.clock, from.clock), max(s.wall, from.wall)
	from.raise(s.level)
	from.epoch = max(s.epoch, from.epoch) + 1
	from.tokens.adminSerial = max(s.tokens.adminSerial, from.tokens.adminSerial) + 1
	from.sessions, from.channels = nil, channel.New()
	from.digests = digestRound{}
	from.applier.takeOver(&s.applier)
	*s = *from
	e.Now, e.Wall, e.Level = s.clock, s.wall, s.level
	s.changeAll(func(d *database) {
		d.keys.Arrived(s.clock)
		d.config.HoldExpiry(0)
		if d.messages == nil {
			return
		}
		d = s.openWork(d)
		d.messages.ReleaseAllClaims(e, "the attempt's outcome is not in the backup that was restored")
		d.passReports(e)
	})
}

// save writes the records of sectionStage: a head, then the parts.
func (s *staged) save(emit func(record []byte) error) error {
	var w wire.Writer
	w.String(s.id)
	w.Varint(s.touched)
	if err := emit(w.B); err != nil {
		return err
	}
	for _, part := range s.parts {
		if err := emit(part); err != nil {
			return err
		}
	}
	return nil
}

// stage takes in a record of sectionStage.
func (l *loading) stage(record []byte) error {
	if l.s.stage.incoming == nil {
		r := wire.NewReader(record)
		l.s.stage.incoming = &staged{id: r.String(), touched: r.Varint()}
		return r.Done()
	}
	l.s.stage.incoming.parts = append(l.s.stage.incoming.parts, bytes.Clone(record))
	l.s.stage.incoming.size += uint64(len(record))
	return nil
}

// Replaced reports whether one of an entry's outcomes is that the state was replaced by a backup's: then sessions and what
// was sent to subscribers before means nothing any more.
func Replaced(outcomes []Outcome) bool {
	for i := range outcomes {
		if o := &outcomes[i]; o.Code == RestoreBackup.Code && o.Status == Applied && o.Err == nil {
			return true
		}
	}
	return false
}

// Knows reports whether a session is registered, or may still be: its registration lies before what the machine has
// applied.
func (m *Machine) Knows(session uint64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return session>>8 > m.index || m.state.sessions.find(session) != nil
}
