import type { DemoCategory } from './types.ts';

export const demoCategories: DemoCategory[] = [
  { slug: 'hms-og-sikkerhet', title: 'HMS og sikkerhet' },
  { slug: 'forstehjelp', title: 'Førstehjelp', parent: 'hms-og-sikkerhet' },
  { slug: 'hms-opplaering', title: 'HMS-opplæring', parent: 'hms-og-sikkerhet' },
  { slug: 'brannvern', title: 'Brannvern', parent: 'hms-og-sikkerhet' },
  { slug: 'truck-og-kran', title: 'Truck og kran', parent: 'hms-og-sikkerhet' },
  { slug: 'arbeid-i-hoyden', title: 'Arbeid i høyden', parent: 'hms-og-sikkerhet' },

  { slug: 'ledelse', title: 'Ledelse og organisasjon' },
  { slug: 'lederutvikling', title: 'Lederutvikling', parent: 'ledelse' },
  { slug: 'prosjektledelse', title: 'Prosjektledelse', parent: 'ledelse' },
  { slug: 'kvalitet-og-revisjon', title: 'Kvalitet og revisjon', parent: 'ledelse' },
  { slug: 'presentasjonsteknikk', title: 'Presentasjonsteknikk', parent: 'ledelse' },
  { slug: 'pedagogikk', title: 'Pedagogikk og kursholding', parent: 'ledelse' },

  { slug: 'okonomi', title: 'Økonomi og regnskap' },
  { slug: 'bokforing-og-regnskap', title: 'Bokføring og regnskap', parent: 'okonomi' },
  { slug: 'lonn-og-personal', title: 'Lønn og personal', parent: 'okonomi' },
  { slug: 'skatt-og-avgift', title: 'Skatt og avgift', parent: 'okonomi' },
  { slug: 'baerekraft', title: 'Bærekraft og rapportering', parent: 'okonomi' },

  { slug: 'jus', title: 'Jus' },
  { slug: 'arbeidsrett', title: 'Arbeidsrett', parent: 'jus' },
  { slug: 'personvern', title: 'Personvern', parent: 'jus' },

  { slug: 'data-og-it', title: 'Data og IT' },
  { slug: 'kontorprogrammer', title: 'Kontorprogrammer', parent: 'data-og-it' },
  { slug: 'programmering', title: 'Programmering', parent: 'data-og-it' },
  { slug: 'dataanalyse', title: 'Dataanalyse', parent: 'data-og-it' },
  { slug: 'informasjonssikkerhet', title: 'Informasjonssikkerhet', parent: 'data-og-it' },
  { slug: 'universell-utforming', title: 'Universell utforming', parent: 'data-og-it' },

  { slug: 'sprak', title: 'Språk' },
  { slug: 'norsk', title: 'Norsk', parent: 'sprak' },
  { slug: 'engelsk', title: 'Engelsk', parent: 'sprak' },
  { slug: 'spansk', title: 'Spansk', parent: 'sprak' },

  { slug: 'fritid', title: 'Kunst og fritid' },
  { slug: 'fotografering', title: 'Fotografering', parent: 'fritid' },
  { slug: 'tegning-og-maling', title: 'Tegning og maling', parent: 'fritid' },
  { slug: 'batliv', title: 'Båtliv', parent: 'fritid' },
  { slug: 'meditasjon', title: 'Meditasjon og mindfulness', parent: 'fritid' },

  { slug: 'mat-og-drikke', title: 'Mat og drikke' },
  { slug: 'baking', title: 'Baking', parent: 'mat-og-drikke' },
  { slug: 'matlaging', title: 'Matlaging', parent: 'mat-og-drikke' },
  { slug: 'vin-og-ol', title: 'Vin og øl', parent: 'mat-og-drikke' },
];
