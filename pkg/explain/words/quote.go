package words

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Quoted puts a text of the cluster into a sentence.
func Quoted(text string) string { return "“" + strings.TrimSpace(text) + "”" }

// maxSaying is how much of a message goes into a sentence, in bytes.
const maxSaying = 100

// saying is the last line of a message, for the end of a sentence; "" if it is too long.
func saying(message string) string {
	all := LastLines(message)
	if len(all) == 0 || len(all[len(all)-1]) > maxSaying {
		return ""
	}
	return ", " + Quoted(all[len(all)-1])
}

// maxBriefly is how much of a message goes into a sentence without quotes.
const maxBriefly = 160

// briefly is the first line of a message, cut if it is long.
func briefly(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if text := []rune(line); len(text) > maxBriefly {
		line = string(text[:maxBriefly]) + "…"
	}
	return strings.TrimRight(line, " .")
}

// LastLines are those of a message, at most 10, without empty ones at the end.
func LastLines(message string) []string {
	message = strings.TrimRight(message, " \r\n\t")
	if message == "" {
		return nil
	}
	all := strings.Split(message, "\n")
	return all[max(0, len(all)-10):]
}

// maxList is where a list of indexes is cut within a sentence.
const maxList = 50

// crop cuts a list of intervals behind a comma, so that no interval is cut in two (CLI-02).
func crop(list string) string { return explain.Crop(list, maxList) }
