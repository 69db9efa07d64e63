package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"
)

const (
	logChunk = 64 << 10
	// maxLogLine is where a line is split: memory is bounded whatever a container writes. A multiple of logChunk.
	maxLogLine = 1 << 20
)

// logLine is a line of a log, or a part of a long one. Its text is valid until the next one is read.
type logLine struct {
	text   []byte // without its newline
	at     string // the timestamp as the server wrote it, "" for none
	time   time.Time
	first  bool // of the parts of its line
	last   bool
	broken bool // what came after it did not arrive: the log ended without a newline
}

// logReader reads the lines of a log.
type logReader struct {
	in         *bufio.Reader
	timestamps bool // each line begins with one

	buffer []byte
	held   []byte // of a rune that a split would cut in two
	next   logLine
}

func newLogReader(in io.Reader, timestamps bool) *logReader {
	return &logReader{in: bufio.NewReaderSize(in, logChunk), timestamps: timestamps, next: logLine{first: true}}
}

// read returns the next line. With an error there is none, but for the last one, which is broken; then comes the error
// again, io.EOF for the end of the log.
func (r *logReader) read() (logLine, error) {
	line := r.next
	if !line.first {
		line.at, line.time = r.next.at, r.next.time
	}
	text, err := r.fill()
	switch {
	case err == nil:
		line.last = true
	case errors.Is(err, bufio.ErrBufferFull):
		whole := wholeRunes(text)
		r.held = append(r.held[:0], text[whole:]...)
		text = text[:whole]
	case len(text) == 0 && line.first:
		return logLine{}, err
	case len(text) == 0: // a long line ended in front of its newline
		r.next = logLine{first: true}
		return logLine{last: true, broken: true, at: line.at, time: line.time}, nil
	default:
		line.last, line.broken = true, true
	}
	if line.first && r.timestamps {
		line.at, line.time, text = cutTimestamp(text)
	}
	line.text = text
	r.next = logLine{first: line.last, at: line.at, time: line.time}
	return line, nil
}

// fill reads up to a newline, or as much as a line may hold (bufio.ErrBufferFull), or up to another error.
func (r *logReader) fill() ([]byte, error) {
	r.buffer = append(r.buffer[:0], r.held...)
	r.held = r.held[:0]
	for read := 0; read < maxLogLine; {
		chunk, err := r.in.ReadSlice('\n')
		r.buffer = append(r.buffer, chunk...)
		read += len(chunk)
		if err == nil {
			text := r.buffer[:len(r.buffer)-1]
			return bytes.TrimSuffix(text, []byte{'\r'}), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.buffer, err
		}
	}
	return r.buffer, bufio.ErrBufferFull
}

// wholeRunes is the length of text without a rune that is cut off at its end.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if i := len(text) - n; utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// cutTimestamp takes the timestamp from the front of a line. A line that has none, as when the kubelet tells of an
// error in place of a log, stays as it is.
func cutTimestamp(text []byte) (string, time.Time, []byte) {
	at, rest, _ := bytes.Cut(text, []byte{' '})
	if len(at) > len("2006-01-02T15:04:05.000000000+00:00") {
		return "", time.Time{}, text
	}
	t, err := time.Parse(time.RFC3339Nano, string(at))
	if err != nil {
		return "", time.Time{}, text
	}
	return string(at), t, rest
}
