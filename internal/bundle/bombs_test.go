package bundle

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// maxAllocated is how many bytes may be allocated to read and explain a hostile file; fewer are in use at a time.
const maxAllocated = 450 << 20

// readAll reads an archive as the verbs do, and returns the first error.
func readAll(archive []byte) error {
	c, err := Read(bytes.NewReader(archive))
	if err == nil {
		var input input.Input
		if input, err = c.Input(); err == nil {
			explained(input)
		}
	}
	switch recording, unread := Recording(bytes.NewReader(archive)); {
	case unread == nil:
		err = cmp.Or(err, play(recording))
	case !errors.Is(unread, errNoBundle):
		err = cmp.Or(err, unread)
	}
	return err
}

func explained(input input.Input) {
	report := analysis.Explain(input, explain.Options{MaxPods: -1})
	_ = text.Explanation(io.Discard, report, text.Options{Width: textWidth, Full: true})
}

// play plays a recording to its end, and explains the data that what-if reads from it. It returns why the recording ends early.
func play(recording []byte) error {
	player, err := snapshot.NewPlayer(bytes.NewReader(recording), stopped{}, 0)
	if err != nil {
		return err
	}
	var reports whatif.Recording
	for {
		var shown *snapshot.Snapshot
		if shown, err = player.Next(context.Background(), 0); err != nil {
			break
		}
		if shown.Job != nil && shown.Job.Report != nil {
			reports.Add(shown.Job.Report)
		}
	}
	if input := reports.Input(); input.Job != nil {
		explained(input)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// logsOf returns as many logs as are read, all with the same text.
func logsOf(text string) (files []file) {
	for i := range maxLogs {
		files = append(files, file{fmt.Sprintf("%s/p/c%d%s", logsFolder, i, lastLog), []byte(text)})
	}
	return files
}

// realBundles returns the files of the bundles of a few recorded Jobs.
func realBundles(f *testing.F) (all [][]file) {
	paths, err := recorded.Files("../../pkg/explain/analysis/testdata/recorded")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for n := 0; n < len(paths); n += len(paths)/6 + 1 {
		c, err := recorded.Load(paths[n])
		if err != nil {
			f.Fatal(err)
		}
		kept, facts, err := readable(contentsOf(&c, 0), nil)
		if err != nil {
			f.Fatal(err)
		}
		derived, err := reportFiles(kept)
		if err != nil {
			f.Fatal(err)
		}
		manifest, err := json.Marshal(kept.Manifest)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, slices.Concat(facts, derived, []file{{manifestFile, manifest}}))
	}
	return all
}

// A bundle in which any file is replaced by arbitrary data is read and explained, or refused, in little memory.
// Requirements: BUN-08, BUN-09
func FuzzReadBundle(f *testing.F) {
	bundles := realBundles(f)
	for _, files := range bundles {
		for _, one := range files {
			f.Add(one.name, one.data)
		}
	}
	f.Add("logs/p/c.log", []byte("one\ntwo\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		files := slices.DeleteFunc(slices.Clone(bundles[0]), func(f file) bool { return f.name == name })
		var archive bytes.Buffer
		if err := writeArchive(&archive, &Manifest{Name: "x"}, append(files, file{name, data})); err != nil {
			t.Skip(err) // No archive has such a name.
		}
		measure.CheckAllocated(t, maxAllocated, func() { _ = readAll(archive.Bytes()) })
	})
}

// A recording of any content is played or refused, in little memory.
// Requirements: BUN-09
func FuzzReadRecording(f *testing.F) {
	for _, files := range realBundles(f) {
		for _, one := range files {
			if one.name == recordingFile {
				f.Add(one.data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		measure.CheckAllocated(t, maxAllocated, func() { _ = play(data) })
	})
}
