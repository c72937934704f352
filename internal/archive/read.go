package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
)

// Opened is an incremental backup that is read, decrypted. It names payloads: those that could be read were given to put.
type Opened struct {
	io.Reader
	// Damaged has the packs that the backup needs and that could not be read, with the reasons.
	Damaged []string
	file    io.ReadCloser
}

// Close closes the file.
func (o *Opened) Close() error { return o.file.Close() }

// Read opens an incremental backup. First it calls put with the payloads of all packs that the backup needs, one after the other.
// If one of these is damaged or missing, it does so with those of all other packs of the cluster too: a later backup
// may have written again what was in it. keys decrypt an encrypted backup.
func Read(ctx context.Context, a Archive, b Backup, keys []age.Identity, put func([]byte) error) (*Opened, error) {
	file, err := a.Get(ctx, b.Name)
	if err != nil {
		return nil, err
	}
	o := &Opened{file: file}
	if err := o.open(ctx, a, b, keys, put); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", b.Name, err), file.Close())
	}
	return o, nil
}

func (o *Opened) open(ctx context.Context, a Archive, b Backup, keys []age.Identity, put func([]byte) error) error {
	if b.Sealed && len(keys) == 0 {
		return errNoKey
	}
	manifest, err := openManifest(o.file)
	if err != nil {
		return err
	}
	if err := o.unpack(ctx, a, b, manifest.packs, keys, put); err != nil {
		return err
	}
	o.Reader = manifest
	if b.Sealed {
		o.Reader, err = Unseal(manifest, keys)
	}
	return err
}

// unpack calls put with the payloads of packs.
func (o *Opened) unpack(ctx context.Context, a Archive, b Backup, packs []string, keys []age.Identity, put func([]byte) error) error {
	for _, name := range packs {
		if err := readNamed(ctx, a, name, keys, put); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			o.Damaged = append(o.Damaged, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(o.Damaged) == 0 {
		return nil
	}
	names, err := a.Names(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if p, ok := parsePack(name); ok && p.cluster == b.Cluster && !slices.Contains(packs, name) {
			_ = readNamed(ctx, a, name, keys, put) // whoever reads the backup says what is missing in the end
		}
	}
	return ctx.Err()
}

// readNamed reads a pack of an archive.
func readNamed(ctx context.Context, a Archive, name string, keys []age.Identity, put func([]byte) error) error {
	p, ok := parsePack(name)
	if !ok {
		return fmt.Errorf("%w: this is no name of a pack", ErrDamaged)
	}
	r, err := a.Get(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	return readPack(r, p.digest, keys, p.sealed, put)
}

// Fault is a file of an archive that is damaged or missing.
type Fault struct {
	// Name is the name of the file, Reason what was found.
	Name, Reason string
	// Backups are the names of the backups that need the file, the newest first. One that is damaged itself needs itself.
	Backups []string
}

// Checked counts the files that a check has read.
type Checked struct{ Backups, Packs int }

// Check reads every file of all backups in an archive whole, and returns those that are damaged or missing, in the order of their
// names. It needs no key. single checks a backup in one file.
func Check(ctx context.Context, a Archive, single func(Backup, io.Reader) error) (n Checked, faults []Fault, err error) {
	all, err := List(ctx, a, "")
	if err != nil {
		return n, nil, err
	}
	needed := map[string][]string{}
	for _, b := range all {
		n.Backups++
		packs, err := checkBackup(ctx, a, b, single)
		switch {
		case ctx.Err() != nil:
			return n, nil, ctx.Err()
		case err != nil:
			faults = append(faults, Fault{b.Name, err.Error(), []string{b.Name}})
		}
		for _, p := range packs {
			needed[p] = append(needed[p], b.Name)
		}
	}
	names, err := a.Names(ctx)
	if err != nil {
		return n, nil, err
	}
	for _, name := range names {
		p, ok := parsePack(name)
		if !ok {
			continue
		}
		n.Packs++
		if err := checkPack(ctx, a, p); err != nil {
			if ctx.Err() != nil {
				return n, nil, ctx.Err()
			}
			faults = append(faults, Fault{name, err.Error(), needed[name]})
		}
	}
	for name, backups := range needed { // unordered: sorted below
		if !slices.Contains(names, name) {
			faults = append(faults, Fault{name, "it is missing", backups})
		}
	}
	slices.SortFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Name, b.Name) })
	return n, faults, nil
}

// checkBackup reads a backup, and returns the packs that it needs.
func checkBackup(ctx context.Context, a Archive, b Backup, single func(Backup, io.Reader) error) ([]string, error) {
	r, err := a.Get(ctx, b.Name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if !b.Packed {
		return nil, single(b, r)
	}
	manifest, err := openManifest(r)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, manifest)
	return manifest.packs, err
}

// checkPack compares a pack with the digest in its name.
func checkPack(ctx context.Context, a Archive, p packName) error {
	r, err := a.Get(ctx, p.name)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != p.digest {
		return fmt.Errorf("%w: it has another digest than its name says", ErrDamaged)
	}
	return nil
}

// Discard removes a file that Check has found damaged, if it is a pack: the next backup writes again what it still needs of it.
// It returns false for other files, which it leaves.
func Discard(ctx context.Context, a Archive, f Fault) (bool, error) {
	if _, ok := parsePack(f.Name); !ok {
		return false, nil
	}
	if names, err := a.Names(ctx); err != nil || !slices.Contains(names, f.Name) {
		return false, err
	}
	return true, a.Remove(ctx, f.Name)
}
