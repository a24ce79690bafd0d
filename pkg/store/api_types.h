// Makes the names of pkg/api/validation available that this package uses everywhere: values, types, resources, field
// errors.
#pragma once
#include "pkg/api/validation/field_error.h"
#include "pkg/api/validation/resources.h"
#include "pkg/api/validation/schema.h"
#include "pkg/api/validation/value.h"
#include "pkg/util/go_text.h"

namespace berth::apiserver {

using util::GoQuoted;
using validation::AppendJson;
using validation::Catalog;
using validation::Decode;
using validation::Encode;
using validation::FieldDef;
using validation::FieldError;
using validation::FieldErrors;
using validation::FromJson;
using validation::Group;
using validation::GroupResource;
using validation::GroupVersion;
using validation::Indent;
using validation::ParseJson;
using validation::ResourceInfo;
using validation::ToIndentedJson;
using validation::ToJson;
using validation::ToSortedJson;
using validation::TypeDef;
using validation::Value;
using validation::Version;

using validation::Invalid;
using validation::InvalidRaw;
using validation::NotSupported;
using validation::Required;

}  // namespace berth::apiserver
