package workload

import (
	"context"
	"fmt"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

// accounts are in each bank.
const accounts = 6

// guarded moves money only where there is enough, all in one script.
const guarded = `if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[1]) then return 0 end
redis.call('DECRBY', KEYS[1], ARGV[1]) redis.call('INCRBY', KEYS[2], ARGV[1]) return 1`

// Bank moves money between accounts, half of the accounts by transactions and half by a
// script that lets none go below zero, and reads all accounts at once, in both modes.
type Bank struct {
	Settings
	rec *history.Recorder
}

// NewBank makes the workload; nothing runs yet.
func NewBank(s Settings) *Bank { return &Bank{Settings: s, rec: history.NewRecorder(s.Began)} }

// Name implements Workload.
func (b *Bank) Name() string { return "bank" }

// History implements Workload.
func (b *Bank) History() []history.Op { return b.rec.Ops() }

// Check implements Workload.
func (b *Bank) Check() check.Report { return check.Bank(b.rec.Ops()) }

// Run opens the accounts and moves money.
func (b *Bank) Run(ctx context.Context, t Target) {
	if !b.open(ctx, t) {
		return
	}
	runClients(ctx, t, b.rec, b.Settings, func(c *client) {
		bank := check.Transacted
		if c.rng.IntN(2) == 0 {
			bank = check.Guarded
		}
		from := c.rng.IntN(accounts)
		to := (from + 1 + c.rng.IntN(accounts-1)) % accounts
		amount := 1 + c.rng.Int64N(20)
		switch {
		case c.rng.IntN(3) == 0:
			op := readAccounts(bank)
			op.Stale = c.rng.IntN(2) == 0
			c.run(op)
		case bank == check.Guarded:
			c.run(history.Op{Key: account(bank, from), Value: account(bank, to), Delta: amount, Kind: history.Move})
		default:
			c.run(history.Op{Kind: history.Transaction, Parts: []history.Part{
				{Kind: history.Add, Key: account(bank, from), Delta: -amount}, {Kind: history.Add, Key: account(bank, to), Delta: amount},
			}})
		}
	})
}

// open gives every account its opening sum, once: the faults may have begun.
func (b *Bank) open(ctx context.Context, t Target) bool {
	var command []string
	for _, bank := range []string{check.Transacted, check.Guarded} {
		for i := range accounts {
			command = append(command, account(bank, i), fmt.Sprint(check.Opening))
		}
	}
	for node := 0; ctx.Err() == nil; node++ {
		reply := t.Do(ctx, node%t.Size(), append([]string{"MSETNX"}, command...)...)
		if reply.Outcome == history.OK {
			return true
		}
	}
	return false
}

// Final reads both banks through every node.
func (b *Bank) Final(ctx context.Context, t Target) error {
	for _, node := range everyNode(t) {
		for _, bank := range []string{check.Transacted, check.Guarded} {
			op := readAccounts(bank)
			op.Client, op.Node = -1, node
			if err := finalTransaction(ctx, t, b.rec, op); err != nil {
				return err
			}
		}
	}
	return nil
}

func account(bank string, i int) string { return fmt.Sprintf("%s:%d", bank, i) }

// readAccounts reads all accounts of a bank by one command.
func readAccounts(bank string) history.Op {
	return history.Op{Key: bank, Kind: history.Balances}
}

// accountKeys are the keys of a bank's accounts.
func accountKeys(bank string) (keys []string) {
	for i := range accounts {
		keys = append(keys, account(bank, i))
	}
	return keys
}
