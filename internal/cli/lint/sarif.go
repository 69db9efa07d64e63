package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/printer"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/catalog"
)

// sarifFormat is the value of --output for a log in SARIF 2.1.0 (OASIS), which code scanning reads.
const sarifFormat = "sarif"

const projectURL = "https://github.com/batchjob-dev/kubectl-batchjob"

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string       `json:"id"`
		ShortDescription     sarifMessage `json:"shortDescription"`
		Help                 sarifMessage `json:"help"`
		HelpURI              string       `json:"helpUri"`
		DefaultConfiguration sarifLevel   `json:"defaultConfiguration"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

// writeSARIF writes the findings with all rules, so that a scan without findings clears the findings of the last one.
func writeSARIF(out io.Writer, result *lintResult) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	indexes := map[string]int{}
	driver := sarifDriver{Name: "kubectl-batchjob", Version: cmdutil.CurrentVersion().Version, InformationURI: projectURL}
	for i, rule := range catalog.Rules() {
		indexes[rule.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: rule.ID, ShortDescription: sarifMessage{rule.Text}, Help: sarifMessage{rule.Text + ". Each finding says what to do."},
			HelpURI: projectURL + "/blob/main/docs/lint.md", DefaultConfiguration: sarifLevel{levelOf(rule.Severity)},
		})
	}
	run.Tool.Driver = driver
	seen := map[string]int{}
	for i := range result.Findings {
		f := &result.Findings[i]
		text := f.Message
		if f.Object != "" {
			text = f.Object + ": " + text
		}
		if f.Fix != "" {
			text += ". To fix: " + f.Fix
		}
		key, at := fingerprint(f), -1 // SARIF's value for a rule that is not in the list
		if index, known := indexes[f.ID]; known {
			at = index
		}
		seen[key]++
		run.Results = append(run.Results, sarifResult{
			RuleID: f.ID, RuleIndex: at, Level: levelOf(string(f.Severity)), Message: sarifMessage{text},
			Locations: []sarifLocation{locationOf(f)}, Fingerprints: map[string]string{"batchjobLint/v1": fmt.Sprintf("%s:%d", key, seen[key])},
		})
	}
	data, err := printer.JSON(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
	if err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	_, err = out.Write(data)
	return err
}

func levelOf(severity string) string {
	if severity == "info" {
		return "note"
	}
	return severity
}

// fingerprint returns a hash that stays the same as long as the finding is about the same field of the same object,
// wherever they are in the file.
func fingerprint(f *lintFinding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.File, f.Object, f.ID, f.Field}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// locationOf returns the location in the file. For the output of helm template on standard input, it is the template,
// and for an object of a kustomization the kustomization.
func locationOf(f *lintFinding) sarifLocation {
	var location sarifLocation
	location.Physical.Artifact.URI = uriOf(f.File)
	switch {
	case f.kustomization != "":
		location.Physical.Artifact.URI = uriOf(kustomizationIn(f.kustomization))
		location.Physical.Region = &sarifRegion{StartLine: 1} // see below
	case f.File == manifest.Stdin && f.Source != "":
		location.Physical.Artifact.URI = uriOf(f.Source)
		location.Physical.Region = &sarifRegion{StartLine: 1} // code scanning requires a line; the template's line is unknown
	case f.File == manifest.Stdin:
		location.Physical.Artifact.URI = "stdin"
		fallthrough
	default:
		location.Physical.Region = &sarifRegion{StartLine: max(f.Line, 1), StartColumn: f.Column}
	}
	if f.Object != "" {
		location.Logical = []sarifLogical{{Name: f.Object}}
	}
	return location
}

// uriOf returns the path as a URI reference, relative if the path is relative.
func uriOf(path string) string {
	uri := url.URL{Path: filepath.ToSlash(filepath.Clean(path))}
	if filepath.IsAbs(path) {
		uri.Scheme = "file"
	}
	return uri.String()
}
