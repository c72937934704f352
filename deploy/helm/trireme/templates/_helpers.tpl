{{- define "trireme.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- define "trireme.labels" -}}
app.kubernetes.io/name: trireme
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
