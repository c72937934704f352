package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promise is a part of a page about memory, disks, retention, limits or backups, with the tests that hold it, separated by blanks.
// TestScripts/NAME is a script of cmd/trireme/testdata. What holds in a running cluster only is a run of `make accept`, RUN=NAME.
type promise struct{ says, tests string }

// promises are the statements of the pages that operators read. A sentence that is not here has no figure and no word of mentions.
var promises = map[string][]promise{
	"README.md": {
		{"No lost, doubled or misreported write", "RUN=jepsen"},
		{"large bodies of messages and runs, old history, and large strings that nobody reads are on disk alone", "TestOldPayloadsGo TestSealedEventsReadAlike TestSealedRunsReadAlike TestColdValuesAnswerAlike"},
		{"no asynchronous mode that skips the sync to disk", "RUN=all-killed"},
		{"| data larger than memory |", "TestPayloadsOfMessages TestSealedEventsReadAlike TestColdValuesAnswerAlike"},
		{"`trireme dev --memory` keeps nothing", "TestScripts/dev"},
	},
	"docs/guarantees.md": {
		{"whose disks freeze, fill and lose power", "RUN=jepsen"},
		{"written and synced on two of three disks", "RUN=all-killed RUN=jepsen"},
		{"the permanent loss of any one disk", "RUN=all-killed RUN=membership"},
		{"In `trireme dev` it is synced on the one disk", "RUN=damaged-disk"},
		{"a leader whose own disk is slow gives way within seconds", "TestSlowLeaderGivesWay TestSlowDiskLeavesTheLead RUN=grey-disk"},
		{"every write waits for one of them", "RUN=grey-disk"},
		{"A log entry or a snapshot that does not match its checksum", "TestEveryFlippedByteOfASnapshot RUN=damaged-disk"},
		{"A damaged large body is fetched from another node", "TestDamagedPayloadsAreFetched TestLostSegmentsAreFetched"},
		{"A node refuses writes before its disk is full", "TestFloorOfADisk TestScripts/fulldisk"},
		{"A node whose disk was wiped is not accepted under its old id", "TestScripts/members"},
		{"the other nodes know its latest process, and its disk does not", "TestOldCopyIsRefused"},
	},
	"docs/messages.md": {
		{"when a majority of the nodes has the message on disk", "RUN=jepsen"},
		{"`GET /v2/bulkActions?state=IN_PROGRESS`", "TestBulkLimits"},
		{"pages of at most 100, or 8 MiB of bodies", "TestDeadLetterPages TestLargePagesEndEarly"},
		{"`answer` is the body of the last answer as text (at most 4 KiB)", "TestExplainDead"},
		{"a period of at most 7d", "TestOptionsRefuse"},
		{"| publications in a [batch]", "TestGatherDirectives"},
		{"The headers for a destination have at most 16 KiB", "TestForwardedHeadersAreLimitedByBytes"},
		{"| events, and the delivered and cancelled messages they belong to | 14 days |", "TestPagesSayDefaults TestRetention"},
		{"| how much of them, with their bodies; older ones are on the disk", "TestPagesSayDefaults TestRetention TestSealedEventsReadAlike"},
		{"| dead letters | 7 days |", "TestPagesSayDefaults TestDeadLetters"},
		{"| how much of them | 1 GiB |", "TestPagesSayDefaults TestRetention"},
		{"one for which there is no memory gets 503", "TestFullMemoryRefusesMessages"},
		{"In a database at its memory limit, deliveries continue", "TestFullDatabaseLetsGo"},
		{"If there is no room for an answer, its body and header are not kept", "TestNoResultPassesTheRoom"},
		{"begins with `memory limit reached`", "TestNoResultPassesTheRoom"},
		{"the memory that they need at least is reserved", "TestNoResultPassesTheRoom"},
	},
	"docs/operations.md": {
		{"the doctor warns in the last quarter of its life, at most 14 days", "TestCertificatesAreJudgedByRenewal"},
		{"| `certificate` |", "TestCertificatesAreJudgedByRenewal TestCertificateFindings"},
		{"`10MiB`, `2GB`", "TestByteSizeReadsUnits"},
		{"| `--max-request-size SIZE` | `10MiB` |", "TestPagesSayDefaults TestRequestSizeIsLimited"},
		{"| `--max-key-size SIZE` | 32KiB |", "TestPagesSayDefaults TestKeySizeIsLimited"},
		{"| `--max-record-size SIZE` | 100MiB |", "TestPagesSayDefaults TestRecordSizeIsLimited TestRecordLimitOfVectors"},
		{"| `--max-reply-size SIZE` | `256MiB` |", "TestPagesSayDefaults TestReplySizeIsLimited TestReplySizeCountsEscapes"},
		{"| `--max-buffered-bytes SIZE` | `1GiB` |", "TestPagesSayDefaults TestBuffersAreLimited TestDatabasesShareTheBuffers"},
		{"| `--resp-max-connections N` | 10000 |", "TestPagesSayDefaults TestConnectionLimits TestUnauthenticatedConnectionsShareMemory"},
		{"| `--min-free-disk SPACE` | 5 %, at most 8 GiB |", "TestFloorOfADisk TestFreeDiskReadsSizesAndPercentages"},
		{"| `--inline-bytes SIZE` | 1KiB |", "TestPagesSayDefaults TestShortPayloadsStay TestOldPayloadsGo TestScripts/limits"},
		{"| `--max-response-size SIZE` |", "TestCutAnswersAreMarked"},
		{"| `--event-retention T`, `--event-bytes SIZE` | 14d, 32GiB |", "TestPagesSayDefaults TestRetention TestSealedEventsReadAlike"},
		{"| `--dlq-retention T`, `--dlq-bytes SIZE` | 7d, 1GiB |", "TestPagesSayDefaults TestRetention"},
		{"| `--run-retention T`, `--run-bytes SIZE` | 7d, 8GiB |", "TestPagesSayDefaults TestSealedRunsReadAlike"},
		{"| `--run-dlq-retention T` | 7d |", "TestPagesSayDefaults"},
		{"| `--max-inline-log SIZE` | 1MiB |", "TestPagesSayDefaults"},
		{"| `--max-stored-notifications N`, `--stored-notification-bytes SIZE` |", "TestPagesSayDefaults"},
		{"The header of a response may have 64 KiB", "TestHostileDestinations"},
		{"up to 256 KiB of a failure for events and dead letters", "TestCutAnswersAreMarked"},
		{"at most 90 days", "TestRotatedTokensOverlap"},

		{"All data is in memory, except [history]", "TestSealedEventsReadAlike TestSealedRunsReadAlike TestPayloadsOfMessages TestColdValuesAnswerAlike"},
		{"Snapshots name what is in that directory", "TestSnapshotsNamePayloads TestSnapshotsSurviveCrashes"},
		{"Strings of `--inline-bytes` or more go there when they were not used for `--cold-after`", "TestColdValuesReturn TestWalkSkipsDatabases"},
		{"they count with their whole length toward `--max-memory`", "TestColdValuesAnswerAlike"},
		{"Every database but `default` may use half of `--max-memory`", "TestDatabaseMemory TestPagesSayDefaults"},
		{"sets another limit for one database", "TestDatabaseMemoryIsASetting"},
		{"`null` = that percentage again", "TestDatabaseSettings"},
		{"A command is admitted while the data are below `--max-memory`", "TestMemoryLimit TestMemoryIsLimited"},
		{"keys are evicted first, and a write is refused only if none may be evicted", "TestEviction TestNothingToEvict"},
		{"takes 90 % of its container's or machine's memory", "TestMemoryOfTheProcess"},
		{"With 2 GiB or more, the collector's percentage follows the load", "TestMemoryOfTheProcess TestPercent"},

		{"A write is acknowledged when two of three disks have synced it", "RUN=all-killed RUN=jepsen"},
		{"A disk write that hangs for two seconds", "TestWatchdogSeesAStuckWrite TestStalledStoreIsFatal"},
		{"`--disk-stall-timeout`) ends the process", "TestStalledStoreIsFatal"},
		{"of free space writes are refused (503, `TRYAGAIN` over RESP)", "TestFloorOfADisk TestScripts/fulldisk"},
		{"a 64 MiB reserve file in the data directory is freed", "TestReserveIsSpentAndComesBack TestReserveHasRealBlocks TestSpentReserveStaysSpent"},
		{"A snapshot and its log are verified at every start", "TestEveryFlippedByteOfASnapshot TestDamagedSnapshotAgainstTheLog RUN=damaged-disk"},
		{"a damaged record or snapshot is refused", "TestEveryFlippedByteOfASnapshot RUN=damaged-disk"},
		{"A disk that still answers, but slowly, does not end its node", "TestWatchdogLetsASlowDiskWork"},
		{"transfers leadership after two seconds", "TestSlowLeaderGivesWay RUN=grey-disk"},
		{"A node whose disk stays slow for ten seconds", "TestDiskTellsOnce TestHealthOfASlowDisk"},
		{"Nodes write their snapshots one after the other, the leader last", "TestSnapshotTurns"},

		{"A backup holds everything at one moment", "TestBackupsAreReadAsWritten TestPartsAreEqualAfterARestore"},
		{"The file appears under its name once all of it is on the disk", "TestBackupThatIsCutOff TestScripts/backup"},
		{"`GET /admin/backup` returns the same stream", "TestBackupAndRestoreOverHTTP"},
		{"`trireme backup --stale` takes that", "TestScripts/backup"},
		{"With `--backup-to` the leader makes backups on a schedule", "TestSchedule TestScripts/scheduledbackup"},
		{"| `--backup-to` |", "TestSchedule TestArchives TestScripts/bucketbackup"},
		{"| `--backup-cron` |", "TestSchedule"},
		{"| `--backup-keep` |", "TestNames TestIncremental"},
		{"| `--backup-recipients` |", "TestSealed TestScripts/scheduledbackup"},
		{"Scheduled backups are incremental", "TestIncremental TestScripts/incrementalbackup"},
		{"Each can be restored alone", "TestIncremental TestScripts/incrementalbackup"},
		{"Packs that no backup needs are removed", "TestIncremental TestBackupsAtOnce"},
		{"delete its manifest", "TestIncremental TestDamagedFiles"},
		{"the next backup looks after the packs", "TestIncremental"},
		{"Before feature level 3, each backup is one file", "TestArchives TestScripts/scheduledbackup"},
		{"A backup appears under its name once all of it has arrived", "TestArchives TestFlakyBucket"},
		{"A failed backup is retried after ten seconds", "TestSchedule"},
		{"`backup verify` needs no node", "TestVerifyTellsWhatIsInABackup TestDamagedBackups"},
		{"`backup verify --all` reads every file", "TestDamagedFiles TestScripts/incrementalbackup"},
		{"then older backups are whole again", "TestDamagedFiles TestScripts/incrementalbackup"},
		{"unpacks its bodies into a temporary directory", "TestScripts/incrementalbackup"},
		{"it restores the backup into a node of its own", "TestDrillFindsDifferences TestScripts/incrementalbackup"},
		{"Refused, without any change, are a restore into a cluster that has data", "TestRestoreRefusesWhatIsNotEmpty TestRefusedRestores TestBackupBomb"},
		{"A restore that is interrupted while the file is sent has changed nothing", "TestBackupThatIsCutOff TestPartsOfABackup"},
		{"From then on **all tokens are those of the backup**", "TestBackupUnderLoadRestoredOnThreeNodes TestScripts/restore"},
		{"Work in flight at the time of the backup is repeated", "TestBackupUnderLoadRestoredOnThreeNodes"},
		{"bodies of 1 KiB or more, and history, go to packs of about 16 MiB", "TestIncremental TestScripts/incrementalbackup"},
	},
	"docs/tenancy.md": nil, // its rows name their tests, see TestClaimsHaveTests
}

// advice has sentences of the pages that promise nothing: they say what the reader should do, or refer to other pages.
var advice = map[string][]string{
	"README.md": {"**Keys, messages and runs are in memory**", "Plan several times as much memory", "Choose Redis for data beyond", "flags, tokens, backups"},
	"docs/guarantees.md": {
		"It does not survive the loss of two disks", "safety with more than one lost disk", "anything about memory that the hardware corrupts",
	},
	"docs/operations.md": {
		"Set `--max-memory` (logical bytes, the same on every node) well below", "so half is a good start", "Look at its disk soon",
		"Protect backups like the data directory", "a backup is enough to read all data", "It needs as much memory as the data need in a node", "`backup drill` goes further",
		"DATABASE PART IN BACKUP", "To restore, start a new cluster", "The reasons are in",
	},
	"docs/messages.md": {"of the request itself are not forwarded but kept", "How long things are kept"},
}

var (
	// mentioned are the words, and figureOfPage the figures, whose sentences promise something.
	mentioned    = regexp.MustCompile(`(?i)\b(?:memory|disks?|kept|retention|history|snapshots?|backups?|large (?:bod|str)\w+)\b`)
	figureOfPage = regexp.MustCompile(`\d ?(?:[KMG]i?B|kB)\b|\b\d+ (?:of the )?days\b|\b\d+d\b|100,000`)
	shellBlock   = regexp.MustCompile("(?ms)^```.*?^```")
	sentenceEnd  = regexp.MustCompile(`[.:;] +|\n- |\n\d\. `)
	// wordsIn are the sections of a page of which every word counts, and not only figures: all if it is not here.
	wordsIn = map[string]*regexp.Regexp{"docs/operations.md": regexp.MustCompile(`(?ms)^## (?:Memory|Disks|Backup and restore)$.*?(?:\n\n### Step|\n\n## An entry)`)}
)

// statements returns the rows and the sentences of a page that mention what is promised.
func statements(text string, words bool) (all []string) {
	for _, block := range strings.Split(shellBlock.ReplaceAllString(text, ""), "\n\n") {
		if strings.HasPrefix(block, "#") {
			continue
		}
		parts := strings.Split(block, "\n")
		if !strings.HasPrefix(block, "|") {
			parts = nil
			from := 0
			for _, at := range sentenceEnd.FindAllStringIndex(block+". ", -1) {
				parts, from = append(parts, block[from:min(at[1], len(block))]), min(at[1], len(block))
			}
		}
		for _, part := range parts {
			if part = strings.Join(strings.Fields(part), " "); figureOfPage.MatchString(part) || words && mentioned.MatchString(part) {
				all = append(all, part)
			}
		}
	}
	return all
}

// TestPromisesHaveTests verifies that the pages say what the list has, that its tests and runs exist, and that every sentence which
// mentions memory, disks, retention, history, backups, or a size or a number of days is in it.
func TestPromisesHaveTests(t *testing.T) {
	tests := declaredTests(t)
	runs, err := os.ReadFile(filepath.Join(root, "jepsen", "cmd", "accept", "runs.go"))
	if err != nil {
		t.Fatal(err)
	}
	exists := func(name string) bool {
		if script, ok := strings.CutPrefix(name, "TestScripts/"); ok {
			_, err := os.Stat(filepath.Join(root, "cmd", "trireme", "testdata", script+".txtar"))
			return err == nil
		}
		run, ok := strings.CutPrefix(name, "RUN=")
		return ok && (run == "jepsen" || strings.Contains(string(runs), `{"`+run+`",`)) || tests[name]
	}
	for page, list := range promises {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		text, known := strings.Join(strings.Fields(string(raw)), " "), advice[page]
		for _, p := range list {
			known = append(known, p.says)
			for _, name := range strings.Fields(p.tests) {
				if !exists(name) {
					t.Errorf("%s: %q is held by %s, which does not exist", page, p.says, name)
				}
			}
			if p.tests == "" {
				t.Errorf("%s: nothing holds %q", page, p.says)
			}
		}
		for _, says := range known {
			if !strings.Contains(text, says) {
				t.Errorf("%s no longer says %q", page, says)
			}
		}
		if list == nil {
			continue
		}
		said := statements(string(raw), wordsIn[page] == nil)
		if in := wordsIn[page]; in != nil {
			for _, section := range in.FindAllString(string(raw), -1) {
				said = append(said, statements(section, true)...)
			}
		}
		for _, s := range said {
			if !containsAny(s, known) {
				t.Errorf("%s: no test holds, or it is no promise: %q", page, s)
			}
		}
	}
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func TestStatements(t *testing.T) {
	got := statements("It is fast. It is in\nmemory: 3 kB each.\n\n- on disk\n- elsewhere\n\n| a | b |\n| size | 5 MiB |\n\n```\non disk\n```", true)
	want := "It is in memory:|3 kB each.|- on disk -|| size | 5 MiB |"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}
