package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/cli/messagesfile"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/internal/plural"
)

// messagesPath returns the path of the API that exports and imports the messages of a database.
func messagesPath(database string) string {
	if database == "" {
		database = fsm.DefaultDB
	}
	return "/admin/databases/" + url.PathEscape(database) + "/messages"
}

// exportMessages writes the messages of a database, and checks the file on the way.
func (r *remote) exportMessages(ctx context.Context, cmd *cobra.Command, o *exportOptions) error {
	counts := map[string]int{}
	write := func(w io.Writer) error {
		resp, err := r.stream(ctx, "GET", messagesPath(o.database), nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, _, err := messagesfile.Read(io.TeeReader(resp.Body, w), func(store fsm.RecordStore, record []byte) error {
			counts[messagesfile.Kind(store, record)]++
			return nil
		}); err != nil {
			return fmt.Errorf("the file is incomplete: %w", err)
		}
		return nil
	}
	report, err := saved(cmd, o.messages, o.force, write)
	if err != nil {
		return err
	}
	if o.asJSON {
		return json.NewEncoder(report).Encode(counts)
	}
	_, err = fmt.Fprintf(report, "%s, %s, %s, %s, %s and %s exported\n", plural.Of(counts["message"], "message"), plural.Of(counts["dead-letter"], "dead letter"),
		plural.Of(counts["queue"], "queue"), plural.Of(counts["schedule"], "schedule"), plural.Of(counts["url-group"], "URL group"), plural.Of(counts["run"], "run"))
	return err
}

// anyChanged reports whether one of the flags was given.
func anyChanged(cmd *cobra.Command, names ...string) bool {
	return slices.ContainsFunc(names, cmd.Flags().Changed)
}

// importMessages sends a file of messages. A file that can be read twice is verified first.
func importMessages(cmd *cobra.Command, o *importOptions) error {
	r, err := newRemote(&o.connection)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt(cmd)
	defer stop()
	file, size, err := openImport(cmd.InOrStdin(), o.messages)
	if err != nil {
		return err
	}
	defer file.Close()
	if again, ok := file.(io.ReadSeeker); ok && size > 0 {
		_, _, err := messagesfile.Read(file, func(fsm.RecordStore, []byte) error { return nil })
		if err != nil {
			return err
		}
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the file again: %w", err)
		}
	}
	return r.sendMessages(ctx, cmd, o, file)
}

// sendMessages sends the file and prints what the database has imported.
func (r *remote) sendMessages(ctx context.Context, cmd *cobra.Command, o *importOptions, file io.Reader) error {
	resp, err := r.stream(ctx, "POST", messagesPath(o.Database), io.NopCloser(file))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	var v struct{ Messages, DeadLetters, Queues, Schedules, URLGroups, Runs int }
	if err = errors.Join(err, json.Unmarshal(text, &v)); err != nil {
		return fmt.Errorf("%s did not reply with JSON: is it a Trireme node? %w", r.URL(), err)
	}
	if o.asJSON {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s, %s, %s, %s, %s and %s imported\n", plural.Of(v.Messages, "message"), plural.Of(v.DeadLetters, "dead letter"),
		plural.Of(v.Queues, "queue"), plural.Of(v.Schedules, "schedule"), plural.Of(v.URLGroups, "URL group"), plural.Of(v.Runs, "run"))
	return err
}
