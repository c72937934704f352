package logstore

import (
	"encoding/binary"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// entryFormat is how raft-boltdb codes entries.
var entryFormat = &codec.MsgpackHandle{BasicHandle: codec.BasicHandle{TimeNotBuiltin: true}}

const (
	// entryFrame is what an entry takes coded, beside its data and extensions: the names of its fields, numbers, a time,
	// and its key.
	entryFrame = 160
	// keptCode is how much memory for coded entries is kept between transactions.
	keptCode = 4 << 20
)

// entryCoder codes the entries of a transaction into one piece of memory, which the next transaction uses again.
type entryCoder struct {
	encoder *codec.Encoder
	memory  []byte
}

// put stores entries as raft-boltdb does, which makes an encoder and a buffer for each of them: of what a node allocates for
// a small write, that was a quarter.
func (d *database) put(logs []*raft.Log) error {
	if d.db == nil {
		return d.BoltStore.StoreLogs(logs)
	}
	tx, err := d.db.Begin(true) // one at a time
	if err != nil {
		return err
	}
	defer tx.Rollback()
	bucket := tx.Bucket(logsBucket)
	if bucket == nil {
		return bbolt.ErrBucketNotFound
	}
	d.coder.reset(logs)
	for _, l := range logs {
		key, value, err := d.coder.code(l)
		if err != nil {
			return err
		}
		if err := bucket.Put(key, value); err != nil { // it holds the value until the end of the transaction
			return err
		}
	}
	return tx.Commit()
}

// reset has room for entries.
func (c *entryCoder) reset(logs []*raft.Log) {
	size := 0
	for _, l := range logs {
		size += sizeOf(l) + entryFrame
	}
	if c.encoder == nil {
		c.encoder = codec.NewEncoderBytes(new([]byte), entryFormat)
	}
	if cap(c.memory) < size || cap(c.memory) > keptCode {
		c.memory = make([]byte, 0, size)
	}
	c.memory = c.memory[:0]
}

// code is the key and the value of an entry.
func (c *entryCoder) code(l *raft.Log) (key, value []byte, err error) {
	at := len(c.memory)
	c.memory = binary.BigEndian.AppendUint64(c.memory, l.Index)
	key = c.memory[at:len(c.memory):len(c.memory)]
	value = c.memory[len(c.memory):]
	c.encoder.ResetBytes(&value)
	if err := c.encoder.Encode(l); err != nil {
		return nil, nil, err
	}
	if end := len(c.memory) + len(value); end <= cap(c.memory) { // otherwise it has memory of its own
		c.memory = c.memory[:end]
	}
	return key, value[:len(value):len(value)], nil
}
