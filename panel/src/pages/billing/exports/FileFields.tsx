import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import type { Schemas } from "../../../api/client";
import { useExportStrings } from "../../../i18n/exports";

export type FileChoice = { dataset: Schemas["Dataset"]; version: Schemas["FocusVersion"]; format: Schemas["FileFormat"] };
export const USUAL_FILE: FileChoice = { dataset: "cost-and-usage", version: "1.4", format: "csv" };

const FORMATS = [{ value: "csv", label: "CSV" }, { value: "parquet", label: "Parquet" }];
const VERSIONS = [{ value: "1.4", label: "FOCUS 1.4" }, { value: "1.2", label: "FOCUS 1.2" }];

/** What a file contains, and how. */
export function FileFields({ file, onChange }: { file: FileChoice; onChange: (file: FileChoice) => void }) {
  const s = useExportStrings();
  const datasets = Object.entries(s.datasets).map(([value, label]) => ({ value, label }));
  const field = (label: string, options: { value: string; label: string }[], name: keyof FileChoice) => (
    <FormField label={label}>
      <Select
        options={options}
        selectedOption={options.find((each) => each.value === file[name]) ?? null}
        onChange={({ detail }) => onChange({ ...file, [name]: detail.selectedOption.value })}
      />
    </FormField>
  );
  return (
    <>
      {field(s.dataset, datasets, "dataset")}
      <ColumnLayout columns={2}>
        {field(s.version, VERSIONS, "version")}
        {field(s.format, FORMATS, "format")}
      </ColumnLayout>
    </>
  );
}
