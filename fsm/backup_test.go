package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// table is one for all: it takes longer to make than to read a small backup.
var table = command.NewTable()

// randomState is a machine with keys in several databases and messages of which some are being delivered.
func randomState(t rapid.TB, seed uint64, batches int) *fsm.Machine {
	m, l := fsm.NewMachineWith(table), newLog(seed)
	apply := func(data []byte) []fsm.Outcome {
		o, err := m.Apply(l.index, l.term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	apply(l.entry(fsm.Request{Code: fsm.BootstrapState.Code, Body: fsm.BootstrapState.Body(founding(fmt.Sprint("source", seed), 1))}))
	l.open(apply)
	for range batches {
		apply(l.entry(l.request(l.batch()), l.administer()))
	}
	publish := queue.Publications{Items: []queue.Publication{{URL: "http://example.com", Body: []byte("one")}, {URL: "http://example.com/2"}}}
	apply(l.entry(fsm.Request{Code: fsm.Publish.Code, Body: fsm.Publish.Body(publish)}))
	apply(l.entry(fsm.Request{Code: fsm.Advance.Code, Body: fsm.Advance.Body(fsm.AdvanceLimit{Deliver: true, Term: l.term, Claims: 1})}))
	return m
}

func founding(id string, token byte) fsm.Bootstrap {
	f := fsm.Bootstrap{ClusterID: id, Level: fsm.MaxLevel}
	for i := range f.Tokens {
		f.Tokens[i][0], f.Tokens[i][1] = token, byte(i)
	}
	return f
}

// backup is the machine's, and what is known of it.
func backup(t rapid.TB, m *fsm.Machine) ([]byte, fsm.Backup) {
	var b bytes.Buffer
	made, err := m.Fork().Backup(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), made
}

// TestBackupsAreReadAsWritten: what is known of a backup when it is written is known when it is read, and the content that
// is read has the digest of what was written.
func TestBackupsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomState(t, rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), rapid.IntRange(0, 40).Draw(t, "batches"))
		file, made := backup(t, m)
		if made.Digest != m.Fork().ContentDigest() || made.Bytes != int64(len(file)) || made.Version != "test" {
			t.Fatalf("%+v of %d bytes", made, len(file))
		}
		if checked, err := fsm.CheckBackup(bytes.NewReader(file)); err != nil || checked != made {
			t.Fatalf("checked %+v, %v; made %+v", checked, err, made)
		}
		if verified, err := fsm.VerifyBackupWith(bytes.NewReader(file), table); err != nil || verified != made {
			t.Fatalf("verified %+v, %v; made %+v", verified, err, made)
		}
	})
}

// TestVerifyTellsWhatIsInABackup counts.
func TestVerifyTellsWhatIsInABackup(t *testing.T) {
	m := randomState(t, 5, 60)
	file, made := backup(t, m)
	b, c, err := fsm.VerifyBackup(bytes.NewReader(file), 0, nil)
	if err != nil || b != made {
		t.Fatalf("%+v, %v", b, err)
	}
	var want fsm.Contents
	m.View(0, [16]byte{}, func(v *fsm.View) { want = v.Contents() })
	if fmt.Sprint(c) != fmt.Sprint(want) || c.Keys() == 0 || c.Messages.Messages != 2 || c.Messages.Active != 1 || c.Remarkable() == "" {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// largeBackup is one of several pieces.
func largeBackup(t *testing.T) []byte {
	m := &applied{Machine: fsm.NewMachineWith(table)}
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 20_000)
	for i := range 40 {
		for j := range noise {
			noise[j] = byte(r.Uint32())
		}
		m.write(t, set(fmt.Sprint("k", i), string(noise)))
	}
	file, _ := backup(t, m.Machine)
	return file
}

// TestDamagedBackups flips bits and cuts: of a small backup every bit and every length, of one with many pieces some.
func TestDamagedBackups(t *testing.T) {
	small, _ := backup(t, randomState(t, 3, 2))
	large := largeBackup(t)
	if len(large) < 3*256<<10 {
		t.Fatalf("%d bytes are no three pieces", len(large))
	}
	for name, c := range map[string]struct {
		file         []byte
		step, verify int // between bytes that are harmed, and between those where everything is looked at
	}{"small": {small, 1, 7}, "large": {large, 4099, 10 * 4099}} {
		t.Run(name, func(t *testing.T) {
			for i := 0; i < len(c.file); i += c.step {
				harm(t, c.file, i, i%c.verify == 0)
			}
			longer := append(bytes.Clone(c.file), 0)
			if _, err := fsm.CheckBackup(bytes.NewReader(longer)); !errors.Is(err, fsm.ErrBackup) {
				t.Fatalf("a byte behind the end: %v", err)
			}
		})
	}
}

// harm flips the bits of a byte, and cuts the file there.
func harm(t *testing.T, file []byte, at int, everything bool) {
	t.Helper()
	refused := func(what string, bad []byte) {
		t.Helper()
		if _, err := fsm.CheckBackup(bytes.NewReader(bad)); !errors.Is(err, fsm.ErrBackup) && !errors.Is(err, fsm.ErrBackupNewer) {
			t.Fatalf("%s at %d of %d was not found: %v", what, at, len(file), err)
		}
		if !everything {
			return
		}
		if _, err := fsm.VerifyBackupWith(bytes.NewReader(bad), table); !errors.Is(err, fsm.ErrBackup) && !errors.Is(err, fsm.ErrBackupNewer) {
			t.Fatalf("%s at %d of %d was not found by reading it all: %v", what, at, len(file), err)
		}
	}
	refused("the end", file[:at])
	bad := bytes.Clone(file)
	for bit := range 8 {
		if everything || bit == at%8 {
			bad[at] ^= 1 << bit
			refused(fmt.Sprint("a flip of bit ", bit), bad)
			bad[at] ^= 1 << bit
		}
	}
}

// TestBackupOfANewerVersion is named as such, not as damaged.
func TestBackupOfANewerVersion(t *testing.T) {
	file, _ := backup(t, randomState(t, 4, 1))
	newer := fsm.WithLevel(file, uint64(fsm.MaxLevel)+1)
	for _, check := range []func([]byte) error{
		func(b []byte) error { _, err := fsm.CheckBackup(bytes.NewReader(b)); return err },
		func(b []byte) error { _, err := fsm.VerifyBackupWith(bytes.NewReader(b), table); return err },
	} {
		if err := check(fsm.WithLevel(file, uint64(fsm.MaxLevel))); err != nil {
			t.Fatalf("the same level: %v", err)
		}
		if err := check(newer); !errors.Is(err, fsm.ErrBackupNewer) {
			t.Errorf("%v", err)
		}
	}
}

// FuzzBackup reads arbitrary bytes: a named error, or a backup. Its sum is made right, for otherwise nothing but it
// would be tried.
func FuzzBackup(f *testing.F) {
	file, _ := backup(f, randomState(f, 6, 3))
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, one := range [][]byte{data, fsm.WithSum(data)} {
			_, err := fsm.VerifyBackupWith(bytes.NewReader(one), table)
			if err != nil && !errors.Is(err, fsm.ErrBackup) && !errors.Is(err, fsm.ErrBackupNewer) {
				t.Fatalf("unnamed error %v", err)
			}
		}
	})
}
