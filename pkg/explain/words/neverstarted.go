package words

import (
	"fmt"
	"strings"
)

// NeverStartedText is why no pod of the Job ever started, by the reason and the message of one of them.
func NeverStartedText(reason, message string) string {
	switch reason {
	case "FailedScheduling", "Unschedulable":
		return "its pods never started, as no node could take them: " + schedulingText(message)
	}
	return Joined(": ", "its pods never started ("+reason+")", briefly(message))
}

// schedulingText is the scheduler's message without the number of nodes, and without why preemption does not help.
func schedulingText(message string) string {
	text, _, _ := strings.Cut(message, ". ")
	if before, after, found := strings.Cut(text, " nodes are available: "); found && !strings.Contains(before, " ") {
		text = after
	}
	return briefly(text)
}

// DeadlinePassed is a clause on a Job whose pods never started; the deadline may be unset now.
func DeadlinePassed(deadline *int64) string {
	if deadline == nil {
		return "meanwhile, its activeDeadlineSeconds passed"
	}
	return fmt.Sprintf("meanwhile, its activeDeadlineSeconds (%s) passed", Seconds(*deadline))
}

// NoneStartedText is about pods that are gone and that never started.
func NoneStartedText(n int32) string {
	if n == 1 {
		return "the Job's controller deleted the pod, which never started, so it has no log"
	}
	return fmt.Sprintf("the Job's controller deleted the %s, which never started, so they have no logs", Count(n, "pods"))
}
