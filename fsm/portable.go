package fsm

import (
	"bytes"
	"errors"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// The messages and workflow runs of one database can be taken out of a cluster and into another as records, those of a
// snapshot. They come in as a backup does: in parts that every node keeps, and then by one entry. Package
// cli/messagesfile has the file.

// A RecordStore names the store that a record belongs to. The codes are in files and in the log.
type RecordStore byte

// The stores.
const (
	OfMessages RecordStore = iota
	OfWorkflows
)

// The refusals of an import. Nothing has changed then.
var (
	// ErrUsedMessages: messages are imported into a database that has none.
	ErrUsedMessages = &Error{Code: "messages-not-empty", Text: "messages are imported into a database without any"}
	// ErrRecordLevel: they may have what this cluster doesn't know yet.
	ErrRecordLevel = &Error{Code: "record-level", Text: "the messages are of a cluster with a higher feature level than this one"}
	// ErrBadRecords: what has come in can't be read.
	ErrBadRecords = &Error{Code: "message-records", Text: "the messages can't be read"}
	// ErrRecordMemory: the data would be larger than the cluster allows.
	ErrRecordMemory = &Error{Code: "record-memory", Text: "memory limit reached: with the messages, the data would exceed max-memory"}
)

// MessageRecords gives the messages and workflow runs of a database as records, in the order in which they are to be read.
// Signing keys are not among them.
func (f *Frozen) MessageRecords(database string, emit func(store RecordStore, record []byte) error) error {
	d := f.s.database(database)
	switch {
	case d == nil:
		return ErrNoDatabase
	}
	if err := d.queue(f.s.blank).SavePortable(func(record []byte) error { return emit(OfMessages, record) }); err != nil {
		return err
	}
	return d.runs(f.s.blank).Save(func(record []byte) error { return emit(OfWorkflows, record) })
}

// Level is the feature level of the state.
func (f *Frozen) Level() env.Level { return f.s.level }

// Clock is the cluster time of the state in unix milliseconds.
func (f *Frozen) Clock() int64 { return f.s.clock }

// AppendRecord appends a record in the form in which it comes in.
func AppendRecord(b []byte, store RecordStore, record []byte) []byte {
	w := wire.Writer{B: b}
	w.Uvarint(uint64(store))
	w.Bytes(record)
	return w.B
}

// loadRecords reads what AppendRecord has made into stores of their own.
func loadRecords(b []byte, keeper payload.Keeper) (*queue.Store, *workflow.Store, error) {
	messages, workflows := (&State{keeper: keeper}).newStores()
	r := wire.NewReader(b)
	for r.Len() > 0 {
		store, record := r.Uvarint(), r.Bytes()
		err := r.Err()
		switch {
		case err != nil:
		case store == uint64(OfMessages):
			err = messages.Load(record)
		case store == uint64(OfWorkflows):
			err = workflows.Load(record)
		default:
			err = errors.New("a record of an unknown store")
		}
		if err != nil {
			return nil, nil, BadRecords(err)
		}
	}
	if err := errors.Join(messages.Consistent(), workflows.Consistent()); err != nil {
		return nil, nil, BadRecords(err)
	}
	return messages, workflows, nil
}

// BadRecords is an ErrBadRecords that says why.
func BadRecords(why error) error {
	return &Error{Code: ErrBadRecords.Code, Text: ErrBadRecords.Text + ": " + why.Error()}
}

// CheckRecords reads records as an import does, and says what is in them.
func CheckRecords(b []byte) (ImportedMessages, error) {
	messages, workflows, err := loadRecords(b, nil)
	if err != nil {
		return ImportedMessages{}, err
	}
	return ImportedMessages{messages.Counts(), workflows.Counts()}, nil
}

// MessageImport names records that have come in, as parts of a backup do, and the database that they are for.
type MessageImport struct {
	BackupRef
	Database string
	// Level is the feature level of the cluster that the records are of.
	Level env.Level
}

// Fields codes the value in its wire format.
func (mi *MessageImport) Fields(c *wire.Codec) {
	mi.BackupRef.Fields(c)
	c.String(&mi.Database)
	wire.Uint(c, &mi.Level)
}

// ImportedMessages counts the records of a database after an import.
type ImportedMessages struct {
	Messages  queue.Counts
	Workflows workflow.Counts
}

// Fields codes the value in its wire format.
func (im *ImportedMessages) Fields(c *wire.Codec) {
	c.Record(im.Messages.Fields)
	c.Record(im.Workflows.Fields)
}

// imported says what a database has.
func (d *database) imported() (all ImportedMessages) {
	if d.messages != nil {
		all = ImportedMessages{d.messages.Counts(), d.workflows.Counts()}
	}
	return all
}

// refuseMessages is an error if there is no such database, or if it has messages or runs.
func (s *State) refuseMessages(name string) (*database, error) {
	d := s.database(name)
	switch {
	case d == nil:
		return nil, ErrNoDatabase
	case d.quarantined != 0:
		return nil, ErrQuarantined
	}
	has := d.imported()
	c := Contents{Databases: make([]DatabaseInfo, 1), Messages: has.Messages, Workflows: has.Workflows}
	c.Databases[0].Users = builtinUsers
	if found := c.Remarkable(); found != "" {
		return nil, &Error{Code: ErrUsedMessages.Code, Text: ErrUsedMessages.Text + "; this one has " + found}
	}
	return d, nil
}

// MessagesImportable is an error that says why messages can't be imported into a database.
func (v *View) MessagesImportable(name string) error {
	_, err := v.s.refuseMessages(name)
	return err
}

// importMessages takes records over into a database without messages and runs. It may be asked again.
func (s *State) importMessages(e *env.Env, n MessageImport) (ImportedMessages, error) {
	if d := s.database(n.Database); d != nil && s.stage.wasTaken(n.ID) {
		return d.imported(), nil
	}
	in := s.stage.take(n.ID, n.Size)
	if in == nil {
		return ImportedMessages{}, ErrNotStaged
	}
	if n.Level > s.level {
		return ImportedMessages{}, ErrRecordLevel
	}
	d, err := s.refuseMessages(n.Database)
	if err != nil {
		return ImportedMessages{}, err
	}
	messages, workflows, err := loadRecords(bytes.Join(in.parts, nil), s.keeper)
	if err != nil {
		return ImportedMessages{}, err
	}
	adds := messages.Used() + workflows.Used() - messages.Uncounted() - workflows.Uncounted()
	if limit := s.settings.MaxMemory; limit > 0 && s.used()+adds > limit {
		return ImportedMessages{}, ErrRecordMemory
	}
	if limit := s.memoryLimit(d); limit > 0 && s.usedBy(d)+adds > limit {
		return ImportedMessages{}, ErrRecordMemory
	}
	d = s.openWork(d)
	messages.TakeOver(d.messages)
	workflows.TakeOver(d.workflows)
	d.messages, d.workflows, s.stage.taken = messages, workflows, n.ID
	d.messages.ReleaseAllClaims(e, "the attempt's outcome is not in the file that was imported")
	d.passReports(e)
	return d.imported(), nil
}
