package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// shares is a floor of 5 %.
type shares struct{}

func (shares) Of(total uint64) uint64    { return total / 20 }
func (shares) Alarm(total uint64) uint64 { return total / 5 }

// expect checks the level of a finding, that something is said, and that advice comes
// with everything that is amiss and with nothing else.
func expect(t *testing.T, f Finding, want Level, words string) {
	t.Helper()
	if f.Level != want || !strings.Contains(f.Found, words) || f.Check == "" {
		t.Errorf("%+v, want %s and %q", f, want, words)
	}
	if (f.Do != "") != (want != OK) {
		t.Errorf("%+v: advice %q at level %s", f, f.Do, want)
	}
}

func TestSyncsAreTimed(t *testing.T) {
	dir := t.TempDir()
	s, err := SyncTimes(t.Context(), dir, 8)
	if err != nil || s.Count != 8 || s.Median <= 0 || s.Worst < s.Median {
		t.Fatalf("%+v, %v", s, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("files stay behind: %v, %v", left, err)
	}
	if _, err := SyncTimes(t.Context(), filepath.Join(dir, "none"), 1); err == nil {
		t.Error("a folder that isn't there was timed")
	}
	all := Disk(t.Context(), filepath.Join(dir, "not", "yet"))
	if len(all) == 0 || !strings.Contains(all[0].Found, "median") {
		t.Errorf("a data directory to be made: %+v", all)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, Disk(t.Context(), file)[0], Failure, "is a file")
}

func TestFindingSeverities(t *testing.T) {
	ms := time.Millisecond
	expect(t, syncFinding("d", Syncs{64, ms, 20 * ms}), OK, "median 1ms, worst of 64 20ms")
	expect(t, syncFinding("d", Syncs{64, 11 * ms, 20 * ms}), Warning, "11ms")
	expect(t, syncFinding("d", Syncs{64, ms, 600 * ms}), Warning, "600ms")
	expect(t, syncFinding("d", Syncs{64, 150 * ms, 200 * ms}), Failure, "150ms")
	expect(t, syncFinding("d", Syncs{64, ms, 2500 * ms}), Failure, "2.5s")
	expect(t, spaceFinding("d", shares{}, 50<<30, 100<<30, 1, 2), OK, "50.0 GiB of 100.0 GiB")
	expect(t, spaceFinding("d", shares{}, 19<<30, 100<<30, 1, 2), Warning, "19.0 %")
	expect(t, spaceFinding("d", shares{}, 4<<30, 100<<30, 1, 2), Failure, "below the floor")
	expect(t, spaceFinding("d", shares{}, 50<<30, 100<<30, 0, 2), Failure, "inode")
	expect(t, spaceFinding("d", shares{}, 50<<30, 100<<30, 0, 0), OK, "free") // no inodes to count
	expect(t, fileFinding(20_000, 10_000), OK, "20000")
	expect(t, fileFinding(4096, 10_000), Warning, "10256")
	expect(t, fileFinding(1024, 10), Failure, "1024")
	expect(t, Memory(8<<30, 4<<30), OK, "4.0 GiB, of 8.0 GiB")
	expect(t, Memory(8<<30, 0), Warning, "no --max-memory")
	expect(t, Memory(8<<30, 6<<30), Warning, "6.0 GiB")
	expect(t, Memory(8<<30, 8<<30), Failure, "8.0 GiB")
	expect(t, Memory(0, 8<<30), Warning, "can't be read")
	expect(t, State(nil, "n2"), OK, "n2 leads")
	expect(t, State(errors.New("no leader"), ""), Failure, "no leader")
}

func TestAddressesAreTried(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	expect(t, Address("http", l.Addr().String())[0], Failure, "--http can't be listened on")
	expect(t, Address("http", "127.0.0.1:0")[0], OK, "free")
	if all := append(Address("resp", "off"), Address("gossip", "")...); len(all) > 0 {
		t.Errorf("addresses that are none: %v", all)
	}
}

func TestPeerFindings(t *testing.T) {
	now := time.Now()
	good := func() cluster.PeerReport {
		return cluster.PeerReport{ID: "n2", Addr: "h:1", There: cluster.Reach{Took: time.Millisecond}, Back: cluster.Reach{Took: time.Millisecond}, Blur: time.Millisecond, Version: "v1", Level: 1}
	}
	worst := func(change func(*cluster.PeerReport)) Finding {
		p := good()
		change(&p)
		return NewReport("n1", Production, append(Peers("me:1", []cluster.PeerReport{p}, now), Versions("v1", 1, 1, []cluster.PeerReport{p})...)).Findings[0]
	}
	expect(t, worst(func(*cluster.PeerReport) {}), OK, "")
	expect(t, clockFinding(good()), OK, "its clock agrees within 1ms")
	expect(t, worst(func(p *cluster.PeerReport) { p.There.Err = errors.New("refused") }), Failure, "not reached at h:1: refused")
	expect(t, worst(func(p *cluster.PeerReport) { p.Back.Err = errors.New("time out") }), Failure, "does not reach this node at me:1: time out")
	expect(t, worst(func(p *cluster.PeerReport) { p.Back = cluster.Reach{Unasked: true} }), Warning, "can't be known")
	expect(t, worst(func(p *cluster.PeerReport) { p.There.Took = time.Second }), Warning, "reached at h:1 in 1s")
	expect(t, worst(func(p *cluster.PeerReport) { p.Offset = -time.Second }), Failure, "1s behind")
	expect(t, worst(func(p *cluster.PeerReport) { p.Offset = 200 * time.Millisecond }), Warning, "200ms ahead")
	expect(t, worst(func(p *cluster.PeerReport) { p.Offset, p.Blur = 200*time.Millisecond, 150*time.Millisecond }), OK, "")
	expect(t, worst(func(p *cluster.PeerReport) { p.From, p.Until = now.Add(-90*time.Hour), now.Add(-time.Hour) }), Failure, "it ended at")
	expect(t, worst(func(p *cluster.PeerReport) { p.Gossip, p.Key = "h:2", errors.New("the gossip keys differ") }), Failure, "asked at h:2: the gossip keys differ")
	expect(t, worst(func(p *cluster.PeerReport) { p.Gossip = "h:2" }), OK, "")
	expect(t, worst(func(p *cluster.PeerReport) { p.Version = "v2" }), Warning, "it runs v2")
	expect(t, worst(func(p *cluster.PeerReport) { p.SlowDisk = 90 * time.Second }), Warning, "slow for 1m30s")
	expect(t, Versions("v1", 1, 2, nil)[0], Failure, "level 2, this version knows 1")
	expect(t, Peers("me:1", nil, now)[0], OK, "no other node")
}

func TestHistoryFindings(t *testing.T) {
	const day = 24 * time.Hour
	expect(t, History("shop", "events", 90*time.Minute, 14*day, 256<<20), Warning, "its events go back 1h30m0s of 14 days: they take the 256 MiB that --event-bytes gives them")
	expect(t, History("shop", "runs", 3*day, 14*day, 1<<30), Warning, "its runs go back 3 days of 14 days: they take the 1024 MiB that --run-bytes gives them")
}

func TestCertificateFindings(t *testing.T) {
	dir := t.TempDir()
	ours, err := testcluster.NewAuthority()
	theirs, err2 := testcluster.NewAuthority()
	if err := errors.Join(err, err2, testcluster.WriteTrusted(dir, ours), ours.Issue(dir, "n1"), theirs.Issue(dir, "n2")); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	now := time.Now()
	pair := Pair(file("n1.pem"), file("n1.key"), now)[0]
	if pair.Level == Failure {
		t.Errorf("a good certificate: %+v", pair)
	}
	expect(t, Pair(file("n1.pem"), file("n2.key"), now)[0], Failure, "private key does not match")
	expect(t, Pair(file("n1.pem"), file("n1.key"), now.AddDate(100, 0, 0))[0], Failure, "it ended at")
	expect(t, Pair(file("n1.pem"), file("n1.key"), now.AddDate(-1, 0, 0))[0], Failure, "it begins at")
	last := func(all []Finding) Finding { return all[len(all)-1] }
	if f := last(Authority(file("ca.pem"), file("n1.pem"), "n1", now)); f.Level == Failure {
		t.Errorf("a good certificate: %+v", f)
	}
	expect(t, last(Authority(file("ca.pem"), file("n1.pem"), "n9", now)), Failure, "not n9")
	expect(t, last(Authority(file("ca.pem"), file("n2.pem"), "n2", now)), Failure, "unknown authority")
	expect(t, last(Authority(file("n1.key"), file("n1.pem"), "n1", now)), Failure, "no PEM certificate")
	if all := append(Pair("", "", now), Authority("", "", "n1", now)...); len(all) > 0 {
		t.Errorf("without certificates: %v", all)
	}
}

// TestCertificatesAreJudgedByRenewal: whatever the life of a certificate is, it is fine for as long as whoever renews it in time has
// time, also when it never has two weeks left; and the advice is for where it comes from.
func TestCertificatesAreJudgedByRenewal(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Now()
	for _, c := range []struct {
		life, left time.Duration
		want       Level
		words      string
	}{
		{3 * day, 48 * time.Hour, OK, "good for 2 days"},   // a cluster secret's, fresh
		{3 * day, 36 * time.Hour, OK, "good for 36 hours"}, // just before it is renewed
		{3 * day, 17 * time.Hour, Warning, "its renewal is overdue: it ends in 17 hours"},
		{day, 8 * time.Hour, OK, "8 hours"}, {day, 90 * time.Minute, Warning, "in 1 hour,"},
		{90 * day, 30 * day, OK, "30 days"}, {90 * day, 13 * day, Warning, "in 13 days,"},
		{3650 * day, 15 * day, OK, "15 days"}, {3650 * day, 2 * day, Warning, "in 2 days,"}, {3650 * day, 25 * time.Hour, Warning, "in 25 hours,"}, {90 * day, -day, Failure, "it ended at"},
	} {
		until := now.Add(c.left + time.Minute)
		f := expiryFinding("n2", secretAdvice, until.Add(-c.life), until, now)
		expect(t, f, c.want, c.words)
		if strings.Contains(f.Found, " 1 days") || strings.Contains(f.Found, " 1 hours") {
			t.Errorf("%q", f.Found)
		}
	}
	for signed, want := range map[bool]string{true: "signs its own certificate", false: "the files of its --cluster-cert"} { // unordered: each by itself
		all := Peers("me:1", []cluster.PeerReport{{ID: "n2", From: now.Add(-3 * day), Until: now.Add(time.Hour), Signed: signed}}, now)
		if last := all[len(all)-1]; !strings.Contains(last.Do, want) {
			t.Errorf("signed by itself %v: %+v, want advice %q", signed, last, want)
		}
	}
	if all := Peers("me:1", []cluster.PeerReport{{ID: "n2", From: now.Add(-36 * time.Hour), Until: now.Add(36 * time.Hour), Signed: true}}, now); NewReport("n1", Production, all).Worst != OK {
		t.Errorf("a certificate that its node renews: %+v", all)
	}
}

// TestFindingsApplyToModes: what is meant for production is not in the report of a developer's node, every check applies somewhere,
// and what keeps a node from working is told to everybody.
func TestFindingsApplyToModes(t *testing.T) {
	advice := []Finding{syncFinding("d", Syncs{64, time.Second, time.Second}), fileFinding(1, 10), Memory(8<<30, 0), SlowDisk("", time.Hour)}
	broken := []Finding{spaceFinding("d", shares{}, 0, 100<<30, 1, 2), State(errors.New("no leader"), ""), Settings(errors.New("why"))}
	for mode, want := range map[Mode]int{Production: 7, LocalCluster: 4, Development: 3} { // unordered: each by itself
		r := NewReport("n1", mode, append(advice, broken...))
		if len(r.Findings) != want || r.Worst != Failure {
			t.Errorf("mode %d: %+v", mode, r)
		}
	}
	for _, c := range []check{checkDisk, checkSpeed, checkSpace, checkFiles, checkMemory, checkAddress, checkCertificate, checkPeer, checkClock, checkGossip, checkVersion, checkState, checkSettings, checkStart} {
		if c.name == "" || c.in == 0 || c.in&Production == 0 {
			t.Errorf("%+v says nowhere that it applies", c)
		}
	}
}

// TestReportsAreRead: the worst comes first, tables hold every finding and advice, and
// JSON is read as it was written.
func TestReportsAreRead(t *testing.T) {
	r := NewReport("n1", Production, []Finding{found(checkDisk, "", OK, "", "fine"), found(checkClock, "n2", Failure, "set it", "off"), found(checkSpace, "", Warning, "clean up", "little")})
	if r.Worst != Failure || r.Findings[0].Check != "clock" || r.Findings[1].Check != "space" {
		t.Errorf("%+v", r)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"failure  clock  n2     off", "ok       disk   -      fine", "clock n2: set it", "space: clean up", "n1: failure"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	text, err := json.Marshal(r)
	var back Report
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || back.Worst != r.Worst || back.Findings[0] != r.Findings[0] {
		t.Errorf("%s came back as %+v: %v", text, back, err)
	}
	if err := new(Level).UnmarshalText([]byte("fine")); err == nil {
		t.Error("an unknown level was read")
	}
}
