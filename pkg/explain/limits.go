package explain

// LimitUnit is what a limit counts.
type LimitUnit string

// What limits count.
const (
	LimitFailures LimitUnit = "Failures" // failed pods
	LimitRestarts LimitUnit = "Restarts" // of containers, with restartPolicy OnFailure
)

// BackoffLimit is how far the Job is from spec.backoffLimit. The Job fails when there are more
// failures than the limit, or when restarts reach it: Unit is what comes nearer.
type BackoffLimit struct {
	Unit  LimitUnit `json:"unit"`
	Used  int32     `json:"used"`
	Limit int32     `json:"limit"`
	// Left is which further failure or restart fails the Job: 1 for the next one, 0 if it
	// has happened.
	Left int32 `json:"left"`
}
