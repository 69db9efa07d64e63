package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/jsonlimit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// The files of a bundle, in a folder named after the Job.
const (
	manifestFile  = "bundle.json"
	jobFile       = "job.json"
	podsFile      = "pods.json"
	eventsFile    = "events.json"
	nodesFile     = "nodes.json"
	relativesFile = "retries.json"
	logsFolder    = "logs"
	reportHTML    = "report.html"
	reportText    = "report.txt"
	reportJSON    = "report.json"
	recordingFile = "recording.jsonl"
)

// textWidth is the width of report.txt, in columns.
const textWidth = 100

// file is one file of a bundle.
type file struct {
	name string
	data []byte
}

// Write writes the contents without secrets, and the reports on the rest. It also removes text that matches one of the
// patterns. It returns the Manifest of the bundle.
func Write(w io.Writer, c *Contents, patterns []*regexp.Regexp) (*Manifest, error) {
	kept, facts, err := readable(c, patterns)
	if err != nil {
		return nil, err
	}
	m := &kept.Manifest
	derived, err := reportFiles(kept)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(derived, facts)
	for _, f := range all {
		m.Files = append(m.Files, f.name)
	}
	manifest, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, err
	}
	return m, writeArchive(w, m, append([]file{{manifestFile, manifest}}, all...))
}

// readable returns the contents without secrets, as read back from the files. If a reader would refuse them, it drops the
// last pods, or else the last logs, until they fit.
func readable(c *Contents, patterns []*regexp.Regexp) (*Contents, []file, error) {
	for less := c; ; less = c.smaller(less) {
		kept, files, err := redacted(less, newRedactor(patterns))
		tooLarge := errors.Is(err, jsonlimit.ErrMemory) || errors.Is(err, errTooLarge)
		if !tooLarge || less.countPods()+len(less.Logs) == 0 {
			return kept, files, err
		}
	}
}

// smaller returns less without a quarter of its pods, including the pods of relatives, or of its logs if it has no pods. Its
// Manifest says what it lacks compared to c.
func (c *Contents) smaller(less *Contents) *Contents {
	smaller := *less
	if less.countPods() == 0 {
		smaller.Logs = less.Logs[:len(less.Logs)*3/4]
	}
	cutQuarter(&smaller.Pods, &smaller.Manifest.PodsRead)
	smaller.Relatives = slices.Clone(less.Relatives)
	for i := range smaller.Relatives {
		cutQuarter(&smaller.Relatives[i].Pods, &smaller.Relatives[i].PodsRead)
	}
	smaller.Manifest.Cut = slices.Clone(c.Manifest.Cut)
	for _, cut := range []struct {
		n        int
		one, all string
	}{{c.countPods() - smaller.countPods(), "pod", "pods"}, {len(c.Logs) - len(smaller.Logs), "log", "logs"}} {
		if cut.n > 0 {
			smaller.Manifest.Cut = append(smaller.Manifest.Cut, wording.Plural(cut.n, cut.one, cut.all)+" that would take too much memory")
		}
	}
	return &smaller
}

func cutQuarter(pods *[]corev1.Pod, read *bool) {
	if len(*pods) > 0 {
		*pods, *read = (*pods)[:len(*pods)*3/4], false
	}
}

// countPods returns the number of pods of all Jobs.
func (c *Contents) countPods() int {
	n := len(c.Pods)
	for i := range c.Relatives {
		n += len(c.Relatives[i].Pods)
	}
	return n
}

// redacted returns the contents without secrets, and their files.
func redacted(c *Contents, secrets *redactor) (*Contents, []file, error) {
	var files []file
	for _, part := range []struct {
		name string
		data any
	}{
		{jobFile, c.Job.Object}, {podsFile, c.Pods}, {eventsFile, c.Events}, {nodesFile, c.Nodes}, {relativesFile, c.Relatives},
	} {
		data, err := secrets.object(part.name, part.data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", part.name, err)
		}
		files = append(files, file{part.name, data})
	}
	for i := range c.Logs {
		log := &c.Logs[i]
		named := Log{Pod: secrets.text(logsFolder, log.Pod), Container: secrets.text(logsFolder, log.Container), Previous: log.Previous}
		name := named.file()
		files = append(files, file{name, []byte(secrets.text(name, strings.Join(log.Lines, "\n")) + "\n")})
	}
	manifest, err := secrets.object(manifestFile, c.Manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	kept := newReading()
	for _, f := range append([]file{{manifestFile, manifest}}, files...) {
		if err := kept.read(f.name, bytes.NewReader(f.data)); err != nil {
			return nil, nil, fmt.Errorf("%s, without secrets: %w", f.name, err)
		}
	}
	kept.Manifest.Removed = secrets.removals()
	return kept.Contents, files, nil
}

// previousLog is the suffix of logs of the run before the last restart.
const previousLog, lastLog = ".previous.log", ".log"

func (l *Log) file() string {
	suffix := lastLog
	if l.Previous {
		suffix = previousLog
	}
	return path.Join(logsFolder, sanitize.FileName(l.Pod), sanitize.FileName(l.Container)+suffix)
}

// reportFiles returns the reports on the contents, and the recording.
func reportFiles(c *Contents) ([]file, error) {
	input, err := c.Input()
	if err != nil {
		return nil, err
	}
	report := analysis.Explain(input, explain.Options{MaxPods: -1})
	var page, plain, recording bytes.Buffer
	if err := writePage(&page, c, &report); err != nil {
		return nil, err
	}
	if err := text.Explanation(&plain, report, text.Options{Width: textWidth, Full: true}); err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return nil, err
	}
	if err := record(&recording, maxRecording, c, &input, &report); err != nil {
		return nil, err
	}
	return []file{{reportHTML, page.Bytes()}, {reportText, plain.Bytes()}, {reportJSON, data}, {recordingFile, recording.Bytes()}}, nil
}

func writeArchive(w io.Writer, m *Manifest, files []file) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Name: path.Join(sanitize.FileName(m.Name), f.name), Mode: 0o600, Size: int64(len(f.data)), ModTime: m.Taken.Time, Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
