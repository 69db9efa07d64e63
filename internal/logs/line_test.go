package logs

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

func TestLineReaderSplitsLongLines(t *testing.T) {
	long := strings.Repeat("ab", maxLine/2)
	const at = "2026-03-01T12:00:00.5Z "
	for _, tc := range []struct {
		name, in   string
		timestamps bool
		want       []string
	}{
		{"plain", "a\n\nb\r\n", false, []string{"a", "", "b"}},
		{"no newline at the end", "a\nb", false, []string{"a", "b…"}},
		{"exactly one part", long + "\nx\n", false, []string{long, "", "x"}},
		{"two parts", long + "more\nx\n", false, []string{long, "more", "x"}},
		{"ends with the part", long, false, []string{long, "…"}},
		{"timestamp once", at + long + "\n" + at + "x\n", true, []string{long[:maxLine-len(at)], long[maxLine-len(at):], "x"}},
		{"no timestamp", "failed to read\n", true, []string{"failed to read"}},
		{"no rune is cut", long[1:] + "é\nx\n", false, []string{long[1:], "é", "x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reader := newLineReader(strings.NewReader(tc.in), tc.timestamps)
			var got []string
			for {
				line, err := reader.read()
				if errors.Is(err, io.EOF) {
					break
				}
				text := string(line.Text)
				if line.incomplete {
					text += "…"
				}
				if tc.timestamps && strings.HasPrefix(tc.in, at) && line.Timestamp != strings.TrimSpace(at) {
					t.Errorf("timestamp %q of %.10q", line.Timestamp, text)
				}
				got = append(got, text)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("%d parts, want %d", len(got), len(tc.want))
			}
			for i := range got {
				assert.Equalf(t, got[i], tc.want[i], "part %d: %d bytes, want %d", i, len(got[i]), len(tc.want[i]))
			}
		})
	}
}

// endless is a log that is one line. read is the number of bytes that were read from it.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// A reader reads ahead and keeps no more than a part of a line, however long the log and its lines are.
func TestLineReaderKeepsLittle(t *testing.T) {
	in, returned := &endless{}, 0
	reader := newLineReader(in, false)
	for returned < 64*maxLine {
		line, err := reader.read()
		assert.NoError(t, err)
		returned += len(line.Text)
		if size := measure.Size(reader); in.read > returned+chunkSize || size > 3*maxLine {
			t.Fatalf("after %d bytes, %d were read, and the reader has %d", returned, in.read, size)
		}
	}
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("2026-03-01T12:00:00Z a\nb\r\n\xffc"))
	f.Fuzz(func(t *testing.T, in []byte) {
		reader := newLineReader(bytes.NewReader(in), false)
		var got []byte
		for {
			line, err := reader.read()
			if err != nil {
				break
			}
			got = append(got, line.Text...)
			if line.Last && !line.incomplete {
				got = append(got, '\n')
			}
		}
		if want := bytes.ReplaceAll(in, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) && !bytes.HasSuffix(in, []byte("\r")) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
