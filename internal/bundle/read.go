package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/jsonlimit"
)

// Limits of reading, so that a small file cannot fill the memory. A longer log is cut; any other file is refused.
const (
	maxRead      = 1 << 30 // bytes of all files
	maxObject    = 8 << 20 // bytes of JSON of each object, and of the Manifest; an API server accepts 3 MiB
	maxRecording = 64 << 20
	maxLog       = 256 << 10 // bytes of each log
	maxObjects   = 25_000    // in each list
	stringHeader = 16        // bytes of memory of each string, beside its text
	maxMemory    = 160 << 20 // bytes that all objects and logs take in memory, about
)

// notWhole is the error for a file that cannot be read to its end.
const notWhole = "it is not a bundle, or it is truncated or damaged: %w"

// errNoBundle is the error for an archive that is not a bundle.
var errNoBundle = errors.New("it is not a bundle: it has no " + manifestFile)

// errTooLarge is the error for a bundle that exceeds the limits.
var errTooLarge = errors.New("it is too large to be read")

// Is reports whether a file starts like a bundle. It consumes nothing.
func Is(file *bufio.Reader) bool {
	magic, _ := file.Peek(2)
	return bytes.Equal(magic, []byte{0x1f, 0x8b})
}

// Read reads a bundle.
func Read(r io.Reader) (*Contents, error) {
	c := newReading()
	err := eachFile(r, func(name string, data io.Reader) error {
		if err := c.read(name, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, jsonlimit.ErrMemory):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf(notWhole, err)
	case c.Manifest.Kind != Kind || c.Job == nil:
		return nil, errNoBundle
	}
	return c.Contents, nil
}

// Recording returns the recording in a bundle.
func Recording(r io.Reader) (recording []byte, err error) {
	err = eachFile(r, func(name string, data io.Reader) (err error) {
		if name == recordingFile {
			recording, err = io.ReadAll(io.LimitReader(data, maxRecording+1))
		}
		if len(recording) > maxRecording {
			return fmt.Errorf("%s: %w", name, errTooLarge)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf(notWhole, err)
	case recording == nil:
		return nil, errNoBundle
	}
	return recording, nil
}

// eachFile calls each for the files of a bundle, with their names relative to its folder.
func eachFile(r io.Reader, each func(name string, data io.Reader) error) error {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	files := io.LimitReader(zipped, maxRead)
	for archive := tar.NewReader(files); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, files) // The checksum follows the end of the archive.
			return err
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(path.Clean(header.Name), "/")
		if err := each(name, archive); err != nil {
			return err
		}
	}
}

// reading is the state of reading one bundle.
type reading struct {
	*Contents
	// left is how many bytes of memory its objects and logs may still use.
	left int64
}

func newReading() *reading { return &reading{&Contents{}, maxMemory} }

// read reads one file. Files that are derived from others are skipped.
func (r *reading) read(name string, data io.Reader) (err error) {
	in := jsonlimit.NewDecoder(data, maxObject, &r.left)
	switch name {
	case podsFile:
		r.Pods, err = readList[corev1.Pod](in)
	case eventsFile:
		r.Events, err = readList[corev1.Event](in)
	case nodesFile:
		r.Nodes, err = readList[corev1.Node](in)
	case relativesFile:
		err = in.Members('[', func(string) error { return r.readRelative(in) })
	case manifestFile:
		err = in.Decode(&r.Manifest)
		input.MakeCommands(r.Manifest.Gaps)
	case jobFile:
		err = r.readJob(in)
	default:
		return r.readLog(name, data)
	}
	return err
}

// readJob reads the Job. It reserves memory also for the batchv1.Job that an explanation decodes.
func (r *reading) readJob(in *jsonlimit.Decoder) error {
	raw, err := in.Raw()
	if err != nil {
		return err
	}
	if err := in.Reserve(raw, reflect.TypeFor[map[string]any](), reflect.TypeFor[batchv1.Job]()); err != nil {
		return err
	}
	r.Job = &unstructured.Unstructured{}
	return r.Job.UnmarshalJSON(raw)
}

// readRelative reads another Job of the retry family. It may have as many pods as the Job itself.
func (r *reading) readRelative(in *jsonlimit.Decoder) error {
	if len(r.Relatives) == maxObjects {
		return errTooLarge
	}
	var relative Relative
	err := in.Members('{', func(name string) (err error) {
		switch name {
		case "job":
			err = in.Decode(&relative.Job)
		case "pods":
			relative.Pods, err = readList[corev1.Pod](in)
		case "podsRead":
			err = in.Decode(&relative.PodsRead)
		default:
			_, err = in.Raw()
		}
		return err
	})
	r.Relatives = append(r.Relatives, relative)
	return err
}

// readList reads an array or null.
func readList[T any](in *jsonlimit.Decoder) (all []T, err error) {
	err = in.Members('[', func(string) error {
		if len(all) == maxObjects {
			return fmt.Errorf("%w: it holds more than %d objects", errTooLarge, maxObjects)
		}
		all = append(all, *new(T))
		return in.Decode(&all[len(all)-1])
	})
	return all, err
}

func (r *reading) readLog(name string, in io.Reader) error {
	folder, base := path.Split(name)
	parent, pod := path.Split(path.Clean(folder))
	if path.Clean(parent) != logsFolder || len(r.Logs) == maxLogs {
		return nil
	}
	log := Log{Pod: pod}
	switch {
	case strings.HasSuffix(base, previousLog):
		log.Container, log.Previous = strings.TrimSuffix(base, previousLog), true
	case strings.HasSuffix(base, lastLog):
		log.Container = strings.TrimSuffix(base, lastLog)
	default:
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(in, maxLog))
	if err != nil {
		return err
	}
	log.Lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if r.left -= int64(len(name) + len(data) + len(log.Lines)*stringHeader); r.left < 0 {
		return errTooLarge
	}
	r.Logs = append(r.Logs, log)
	return nil
}
