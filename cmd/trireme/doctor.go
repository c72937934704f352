package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

// doctorAnswer holds the output flags of doctor.
type doctorAnswer struct{ asJSON, strict bool }

func doctorCommand() *cobra.Command {
	s, a := &settings{}, &doctorAnswer{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose this node and its host",
		Long: "Checks this host before its node runs, with the settings of serve (flags, variables or --config): disk, space,\n" +
			"limits, certificates, clock, and whether this node and the others reach each other.\n" +
			"Without a --data-dir, or while a process has it open, asks the running node at TRIREME_URL (default " + defaultURL + ")\n" +
			"with the token in TRIREME_ADMIN_TOKEN to check itself and the other nodes.\n" +
			"Exit codes: 0 no failure, 1 a failure (with --strict: or a warning), 2 wrong usage.",
		Example: "  trireme doctor --config /etc/trireme/trireme.yaml\n  trireme doctor --json --strict",
		Args:    cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(cmd.Flags()); err != nil {
				return err
			}
			report, err := s.examination(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(cmd, report)
		},
	}
	nodeFlags(cmd.Flags(), s)
	clusterFlags(cmd.Flags(), s)
	cmd.Flags().BoolVar(&a.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&a.strict, "strict", false, "exit with 1 on warnings too")
	return cmd
}

// examination returns the report of the running node or, if none runs, of this process.
func (s *settings) examination(ctx context.Context) (doctor.Report, error) {
	if s.DataDir == "" {
		return askDoctor(ctx)
	}
	runs, err := logstore.InUse(s.DataDir)
	if err != nil {
		return doctor.NewReport(s.NodeID, s.mode(), append(s.examineMachine(ctx), doctor.Start(err))), nil
	}
	if !runs {
		return s.examineBefore(ctx)
	}
	if token, _ := secretVariable("TRIREME_ADMIN_TOKEN"); token != "" {
		return askDoctor(ctx)
	}
	return doctor.NewReport(s.NodeID, s.mode(), append(s.examineMachine(ctx), doctor.Unasked())), nil
}

// examineBefore examines a node that does not run. Invalid settings are a finding; the checks that
// need no settings still run.
func (s *settings) examineBefore(ctx context.Context) (doctor.Report, error) {
	if err := s.checkServe(); err != nil {
		return doctor.NewReport(s.NodeID, s.mode(), append(s.examineMachine(ctx), doctor.Settings(err))), nil
	}
	security, err := s.security(slog.New(slog.DiscardHandler))
	if err != nil { // the certificates' findings say it too
		return doctor.NewReport(s.NodeID, s.mode(), append(s.examineMachine(ctx), doctor.Settings(err))), nil
	}
	o, err := (&clusterNode{settings: s, security: security}).options()
	if err != nil {
		return doctor.Report{}, err
	}
	o.DataDir = s.DataDir
	if o.Advertise == "" {
		o.Advertise = o.Bind
	}
	return s.survey(ctx, o), nil
}

// doctorTimeout bounds the examination by the node.
const doctorTimeout = 15 * time.Second

// askDoctor asks the node at TRIREME_URL to examine itself.
func askDoctor(ctx context.Context) (report doctor.Report, err error) {
	r, err := newRemote(&cli.Connection{})
	if err != nil {
		return report, err
	}
	r.SetTimeout(doctorTimeout)
	err = r.Call(ctx, "GET", "/admin/doctor", nil, &report)
	return report, err
}

func (a *doctorAnswer) print(cmd *cobra.Command, report doctor.Report) error {
	out := cmd.OutOrStdout()
	err := error(nil)
	if a.asJSON {
		err = json.NewEncoder(out).Encode(report)
	} else {
		err = report.Write(out)
	}
	if err == nil && (report.Worst == doctor.Failure || a.strict && report.Worst == doctor.Warning) {
		err = fmt.Errorf("the diagnosis found a %s", report.Worst)
	}
	return err
}
