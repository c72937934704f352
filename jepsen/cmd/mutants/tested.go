package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/jepsen/mutant"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// A test of the product finds a fault that nodes under a workload don't show.
type test struct{ pkg, name string }

// tests lists the tests for such faults.
var tests = map[string]test{
	mutant.SnapshotBeforePayloads: {"./fsm", "TestPayloadsOfMessages"},
	mutant.OwnResultAnyway:        {"./fsm/workflow", "TestInlineSteps"},
	mutant.ChainGoesOn:            {"./fsm/workflow", "TestInlineSteps"},
	mutant.MoveLeavesMessages:     {"./fsm/workflow", "TestMovedFromBusyHost"},
	mutant.ForkKeepsRights:        {"./fsm/workflow", "TestForkIsOnItsOwn"},
	mutant.TriggerOfUndone:        {"./fsm", "TestTriggerTellsNothingUndone"},
	mutant.WeightIgnored:          {"./fsm/queue", "TestHourOfTenants"},
	mutant.IdleTenantSavesUp:      {"./fsm/queue", "TestTenantsSaveNothing"},
	mutant.DebtOfTenantForgot:     {"./fsm/queue", "TestTenantsOweWhatTheyHad"},
	mutant.NoAging:                {"./fsm/queue", "TestNothingStarves"},
	mutant.UrgentStarveTheDue:     {"./fsm/queue", "TestNothingStarves"},
	mutant.LeastUrgentUnparked:    {"./fsm/queue", "TestPriorityOnABusyHost"},
	mutant.ParallelismByCount:     {"./fsm/queue", "TestCostCounts"},
	mutant.BucketByCount:          {"./fsm/queue", "TestBurst"},
	mutant.RateFillsBucket:        {"./fsm/queue", "TestBurst"},
	mutant.DebounceWithoutEnd:     {"./fsm/queue", "TestDebounceTakesTheLast"},
	mutant.BatchWaitsAnew:         {"./fsm/queue", "TestGatherModel"},
	mutant.BatchOverItsBytes:      {"./fsm/queue", "TestGatherModel"},
	mutant.BegunBatchJoined:       {"./fsm/queue", "TestGatherModel"},
	mutant.StoppingLives:          {"./fsm/queue", "TestSingletonModes"},
	mutant.SingletonBeside:        {"./fsm/queue", "TestSingletonModes"},
	mutant.SingletonRunStays:      {"./fsm/workflow", "TestSingletonRuns"},
	mutant.AttachAnswersNewID:     {"./fsm/queue", "TestSingletonModes"},
	mutant.PauseLetsDueThrough:    {"./fsm/queue", "TestPauseStopsWhatIsNext"},
	mutant.ResumedWithoutTries:    {"./fsm/queue", "TestPauseAtTheEnd"},
	mutant.PausedRunGoesOn:        {"./fsm/workflow", "TestPausedRunKeepsWhatComes"},
	mutant.PausedRunBegins:        {"./fsm/workflow", "TestPausedRunBeginsNothing"},
	mutant.SleepsAnew:             {"./fsm/workflow", "TestPausedRunBeginsNothing"},
	mutant.PinIgnored:             {"./cluster/payloads", "TestSnapshotsSurviveCrashes"},
	mutant.InstalledBeforeFetched: {"./cluster", "TestJoinFetchesPayloads"},
	mutant.NameMissing:            {"./fsm", "TestPayloadsOfMessages"},
	mutant.PinShort:               {"./cluster/payloads", "TestSnapshotsSurviveCrashes"},
	mutant.SegmentEarly:           {"./cluster/payloads", "TestSnapshotsSurviveCrashes"},
	mutant.PackRemovedAtOnce:      {"./internal/archive", "TestBackupsAtOnce"},
	mutant.CondemnedUsed:          {"./internal/archive", "TestBackupsAtOnce"},
	mutant.ManifestEarly:          {"./internal/archive", "TestIncremental"},
	mutant.ShelfForgotten:         {"./cluster/payloads", "TestWalkEmptiesSegments"},
	mutant.SumUnchecked:           {"./cluster/payloads", "TestDamagedSpots"},
	mutant.ShiftUnchecked:         {"./fsm", "TestWritesWinOverShifts"},
	mutant.LackForgotten:          {"./fsm", "TestEveryCommandOnColdValues"},
	mutant.ColdUncounted:          {"./fsm", "TestColdValuesAnswerAlike"},
	mutant.ColdUnpinned:           {"./fsm", "TestColdValuesAnswerAlike"},
	mutant.FetchedForgotten:       {"./cluster/payloads", "TestGatheringKeepsWhatWasFetched"},
	mutant.NeededGoes:             {"./cluster/payloads", "TestGatheringKeepsWhatWasFetched"},
	mutant.PackedCount:            {"./fsm/keyspace", "TestPackedForms"},
	mutant.PackedConversion:       {"./fsm/keyspace", "TestPackedForms"},
	mutant.PackedScores:           {"./fsm/keyspace", "TestPackedForms"},
	mutant.PackedEncoding:         {"./fsm/keyspace", "TestPackedForms"},
	mutant.MessageRests:           {"./fsm", "TestOnlyBlankDatabasesRest"},
	mutant.LeavesItsPlace:         {"./resp", "TestWaitEnds"},
	mutant.BothDeadlines:          {"./fsm/keyspace", "TestSweepOfBothKinds"},
	mutant.SealedEventLost:        {"./fsm/queue", "TestSealedEventsReadAlike"},
	mutant.FilterMissesLabel:      {"./fsm/queue", "TestSealedEventsReadAlike"},
	mutant.VolumeCursorSkips:      {"./fsm/queue", "TestSealedEventsReadAlike"},
	mutant.FrontDroppedEarly:      {"./fsm/queue", "TestVolumesGoWithTheirNewestEvent"},
	mutant.SealedBodiesForgot:     {"./fsm/sealed", "TestVolumeIsSaved"},
	mutant.DeletedDeadRunStays:    {"./fsm/workflow", "TestRunsWithoutTheirDeadLetterAreSealed"},
	mutant.SweepSealsMany:         {"./fsm/queue", "TestSweepSealsOneVolume"},
	mutant.RunVolumesOutOfOrder:   {"./fsm/workflow", "TestRunsWithoutTheirDeadLetterAreSealed"},
}

// tested has a test look for a fault. It has to pass without the fault.
func (b *builds) tested(ctx context.Context, t test, v *verdict) error {
	v.workload, v.seed = "test", b.first
	dir, err := os.MkdirTemp(b.dir, "test-")
	if err != nil {
		return err
	}
	root, err := testcluster.Root()
	if err != nil {
		return err
	}
	overlay, err := v.fault.Overlay(root, dir)
	if err != nil {
		return err
	}
	out, passed, _, err := t.run(ctx, root, filepath.Join(dir, "intact"))
	if err != nil {
		return err
	}
	if !passed {
		v.invalid = string(out)
		return nil
	}
	_, passed, v.took, err = t.run(ctx, root, filepath.Join(dir, "faulty"), "-overlay", overlay)
	if err == nil && !passed && v.took <= limit {
		v.rule = t.name
	}
	return err
}

// run builds the test and runs it. Only the run counts as time.
func (t test) run(ctx context.Context, root, binary string, flags ...string) (out []byte, passed bool, took time.Duration, err error) {
	build := exec.CommandContext(ctx, "go", append([]string{"test", "-c", "-vet=off", "-tags", testcluster.Tags, "-o", binary}, append(flags, t.pkg)...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return out, false, 0, fmt.Errorf("build the tests of %s: %w\n%s", t.pkg, err, out)
	}
	args := []string{"-test.run", "^" + t.name + "$", "-test.timeout", limit.String()}
	if draws(binary) {
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime", "1s") // it is about whether it fails, not how simply
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(t.pkg))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	began := time.Now()
	out, err = cmd.CombinedOutput()
	if failed := new(exec.ExitError); errors.As(err, &failed) && ctx.Err() == nil {
		return out, false, time.Since(began), nil
	}
	return out, err == nil, time.Since(began), err
}

// draws reports whether the tests of a binary draw cases. What fails because of a fault must not stay in the sources as a case to try first.
func draws(binary string) bool {
	b, err := os.ReadFile(binary)
	return err == nil && bytes.Contains(b, []byte("rapid.nofailfile"))
}
