package archive

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// A pack is a file with payloads, some MiB of them:
//
//	magic   16 bytes
//	format  4 bytes
//	salt    16 random bytes, so that no two packs have the same name
//	count   4 bytes, then an item for each payload: its id and its length, 4 bytes
//	sum     CRC-32C of everything before it
//	body    the payloads in the order of the items, compressed, and encrypted like the backups
//
// Its name has the SHA-256 of the file. The ids tell nothing of the payloads to those who don't know the cluster's secret.
const (
	packMagic  = "TRIREME PACK\r\n\x1a\n"
	packFormat = 1
	packFixed  = len(packMagic) + 4 + 16 + 4
	packItem   = len(payloadID{}) + 4
	// packSize is about the length in bytes of the payloads of a pack. One pack is held in memory.
	packSize = 16 << 20
	// leastUsed is the length in bytes of the payloads for whose sake a backup names a pack that is there. Fewer are packed
	// again, so that no archive has many small packs, or many that are hardly needed.
	leastUsed = packSize / 4
	// mostItems bounds what a damaged head can ask for.
	mostItems = 1 << 24
	// mostWindow bounds what the head of a compressed body can ask for, in bytes.
	mostWindow = 64 << 20
)

// ErrDamaged says that a file of an archive is damaged.
var ErrDamaged = errors.New("archive: the file is damaged")

// ErrNewer says that a file of an archive was written by a newer version.
var ErrNewer = errors.New("archive: the file is of a newer version")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Payload is a byte string that a backup names by its digest, a SHA-256.
type Payload interface {
	Bytes() []byte
	Len() int
	Digest() [sha256.Size]byte
}

// payloadID identifies a payload in the packs of one cluster.
type payloadID [16]byte

// idOf returns the id of the payload with a digest.
func idOf(key *[32]byte, digest [sha256.Size]byte) (id payloadID) {
	h := hmac.New(sha256.New, key[:])
	h.Write(digest[:])
	copy(id[:], h.Sum(nil))
	return id
}

// keyFor returns the key of the ids in packs that are encrypted for recipients: whoever can read a backup has to be able to read its
// packs, so those for other recipients have nothing that it may name.
func keyFor(key [32]byte, to []age.Recipient) [32]byte {
	h := hmac.New(sha256.New, key[:])
	for _, r := range to {
		fmt.Fprintln(h, r) // a public key
	}
	return [32]byte(h.Sum(nil))
}

// packItems lists the payloads of a pack.
type packItems []struct {
	id     payloadID
	length uint32
}

// packing is a pack that is filling.
type packing struct {
	items packItems
	body  bytes.Buffer // compressed
	zstd  *zstd.Encoder
	size  int // of the payloads
}

// add adds a payload.
func (p *packing) add(id payloadID, b []byte) (err error) {
	if p.zstd == nil {
		if p.zstd, err = zstd.NewWriter(&p.body, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	}
	p.items = append(p.items, struct {
		id     payloadID
		length uint32
	}{id, uint32(len(b))})
	p.size += len(b)
	_, err = p.zstd.Write(b)
	return err
}

// end returns the file and its digest, and empties the packing.
func (p *packing) end(to []age.Recipient) (file []byte, digest string, err error) {
	if err := p.zstd.Close(); err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	out.Grow(packFixed + len(p.items)*packItem + p.body.Len() + 1<<10)
	head := binary.LittleEndian.AppendUint32([]byte(packMagic), packFormat)
	head = append(head, make([]byte, 16)...)
	_, _ = rand.Read(head[len(head)-16:]) // never fails
	head = binary.LittleEndian.AppendUint32(head, uint32(len(p.items)))
	for i := range p.items {
		head = append(head, p.items[i].id[:]...)
		head = binary.LittleEndian.AppendUint32(head, p.items[i].length)
	}
	out.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli)))
	if err := seal(&out, to, func(w io.Writer) error {
		_, err := w.Write(p.body.Bytes())
		return err
	}); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(out.Bytes())
	*p = packing{}
	return out.Bytes(), hex.EncodeToString(sum[:]), nil
}

// readPackHead reads the items of a pack. The errors are ErrDamaged, ErrNewer and those of r.
func readPackHead(r io.Reader) (items packItems, err error) {
	head := make([]byte, packFixed)
	if err := readAll(r, head); err != nil {
		return nil, err
	}
	if err := checkStart(head, packMagic, packFormat); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[packFixed-4:]))
	if n > mostItems {
		return nil, fmt.Errorf("%w: %d payloads", ErrDamaged, n)
	}
	for range n { // the list grows with what is read
		head = append(head, make([]byte, packItem)...)
		if err := readAll(r, head[len(head)-packItem:]); err != nil {
			return nil, err
		}
	}
	var sum [4]byte
	if err := readAll(r, sum[:]); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(sum[:]) != crc32.Checksum(head, castagnoli) {
		return nil, fmt.Errorf("%w: its list of payloads", ErrDamaged)
	}
	items = make(packItems, n)
	for i := range items {
		item := head[packFixed+i*packItem:]
		copy(items[i].id[:], item)
		items[i].length = binary.LittleEndian.Uint32(item[len(payloadID{}):])
	}
	return items, nil
}

// readPack reads a pack whole and calls put with each payload, which put may keep. The name of the file says what its digest is.
func readPack(r io.Reader, digest string, keys []age.Identity, sealed bool, put func([]byte) error) error {
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	err := unpack(in, keys, sealed, put)
	if _, rest := io.Copy(io.Discard, in); rest != nil {
		return rest
	}
	if hex.EncodeToString(sum.Sum(nil)) != digest {
		return fmt.Errorf("%w: it has another digest than its name says", ErrDamaged)
	}
	return err
}

// unpack calls put with the payloads of a pack.
func unpack(r io.Reader, keys []age.Identity, sealed bool, put func([]byte) error) error {
	items, err := readPackHead(r)
	if err != nil {
		return err
	}
	if sealed {
		if r, err = Unseal(r, keys); err != nil {
			return err
		}
	}
	body, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return err
	}
	defer body.Close()
	for i := range items {
		b, err := io.ReadAll(io.LimitReader(body, int64(items[i].length))) // grows with what is there
		if err != nil || len(b) < int(items[i].length) {
			return fmt.Errorf("%w: payload %d of %d: %w", ErrDamaged, i, len(items), cut(err))
		}
		if err := put(slices.Clip(b)); err != nil {
			return err
		}
	}
	return nil
}

// checkStart checks how a file begins: a magic number, and a format of 4 bytes.
func checkStart(b []byte, magic string, format uint32) error {
	if string(b[:len(magic)]) != magic {
		return fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	}
	if got := binary.LittleEndian.Uint32(b[len(magic):]); got != format {
		return fmt.Errorf("%w: format %d, this one reads %d", ErrNewer, got, format)
	}
	return nil
}

// readAll fills b.
func readAll(r io.Reader, b []byte) error {
	if _, err := io.ReadFull(r, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: it is cut short", ErrDamaged)
		}
		return err
	}
	return nil
}

// cut is the error of a file that ends too early, if there is no other.
func cut(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
